// What a method made of the book before the question: a tree of summaries, pages with their gists.

import type { MethodPages, MethodPreparation, MethodTree } from "../closeread_wasm.js";
import { make } from "../dom.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";
import { outcome } from "./card.js";
import { exactText, folded, longList } from "./text.js";

export function made({ prepared }: MethodPreparation): HTMLElement {
    const say = inLanguage(words);
    if ("Err" in prepared) {
        return make("li", { class: "card" }, make("h4", {}, say.prepareFailed), make("p", {}, ...outcome(prepared.Err)));
    }
    return prepared.Ok.made === "raptor" ? tree(prepared.Ok) : pages(prepared.Ok);
}

function tree({ leaves, layers }: MethodTree): HTMLElement {
    const say = inLanguage(words);
    const sum = (nodes: { n_tokens: number }[]) => nodes.reduce((tokens, node) => tokens + node.n_tokens, 0);
    // Nodes are numbered through, leaves first.
    let first = leaves.length;
    const levels = layers.map((nodes, layer) => {
        const start = first;
        first += nodes.length;
        return folded(say.level(layer + 1, nodes.length, sum(nodes)), () => longList(nodes, (node, index) =>
            make("div", {}, make("p", { class: "facts" }, say.node(start + index, node.children, node.n_tokens)), exactText(node.text))));
    });
    return make("li", { class: "card made" }, make("h4", {}, say.tree), ...levels.reverse(),
        make("p", {}, say.leaves(leaves.length, sum(leaves))));
}

function pages({ pages }: MethodPages): HTMLElement {
    const say = inLanguage(words);
    return make("li", { class: "card made" }, folded(say.gists(pages.length), () => longList(pages, (page, index) =>
        make("div", {}, make("p", { class: "facts" }, say.page(index, page.words)), exactText(page.gist)))));
}
