// What a method made of the book before the question: a tree of summaries, pages with their gists.

import type { Pages, Preparation, Prepared, Tree } from "../../closeread_wasm.js";
import { useWords } from "../../context.js";
import * as words from "../../words/watch.js";
import { HowEnded } from "./Call.js";
import { ExactText, Folded, LongList } from "./Text.js";

export function Made({ preparation: { prepared } }: { preparation: Preparation<Prepared> }) {
    const say = useWords(words);
    if ("Err" in prepared)
        return (
            <div class="made">
                <h3>{say.prepareFailed}</h3>
                <p>
                    <HowEnded ended={prepared.Err} />
                </p>
            </div>
        );
    return prepared.Ok.made === "raptor" ? <DrawnTree tree={prepared.Ok} /> : <ListedPages pages={prepared.Ok} />;
}

function DrawnTree({ tree: { leaves, layers } }: { tree: Tree }) {
    const say = useWords(words);
    const sum = (nodes: { n_tokens: number }[]) => nodes.reduce((tokens, node) => tokens + node.n_tokens, 0);
    // Nodes are numbered through, leaves first.
    const starts = layers.reduce((starts, nodes) => [...starts, (starts.at(-1) ?? 0) + nodes.length], [leaves.length]);
    const levels = layers.map((nodes, layer) => (
        <Folded key={layer} summary={say.level(layer + 1, nodes.length, sum(nodes))}>
            {() => (
                <LongList items={nodes}>
                    {(node, index) => (
                        <>
                            <p class="facts">{say.node(starts[layer]! + index, node.children, node.n_tokens)}</p>
                            <ExactText text={node.text} />
                        </>
                    )}
                </LongList>
            )}
        </Folded>
    ));
    return (
        <div class="made">
            <h3>{say.tree}</h3>
            {levels.reverse()}
            <p>{say.leaves(leaves.length, sum(leaves))}</p>
        </div>
    );
}

function ListedPages({ pages: { pages } }: { pages: Pages }) {
    const say = useWords(words);
    return (
        <div class="made">
            <h3>{say.gists(pages.length)}</h3>
            <LongList items={pages}>
                {(page, index) => (
                    <>
                        <p class="facts">{say.page(index, page.words)}</p>
                        <ExactText text={page.gist} />
                    </>
                )}
            </LongList>
        </div>
    );
}
