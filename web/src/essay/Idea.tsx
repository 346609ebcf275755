// One idea: what is said at the left, its figure at the right.

import type { ComponentChildren } from "preact";
import { useWords } from "../context.js";
import * as words from "../words/essay.js";

export function Idea({
    id,
    heading,
    texts,
    paper,
    children,
}: {
    id: string;
    heading: string;
    texts: readonly string[];
    paper?: ComponentChildren;
    children: ComponentChildren;
}) {
    return (
        <section class="idea" id={`idea-${id}`} aria-labelledby={`idea-${id}-heading`}>
            <div class="say">
                <h2 id={`idea-${id}-heading`}>{heading}</h2>
                {texts.map((text) => (
                    <p key={text}>{text}</p>
                ))}
                {paper && <p class="paper">{paper}</p>}
            </div>
            <div class="shown">{children}</div>
        </section>
    );
}

/** Links to the papers; a reader who is offline loses nothing but them. */
export function Paper({ of }: { of: "stronger" | "saga" }) {
    const say = useWords(words);
    return <a href={{ stronger: "https://arxiv.org/abs/2506.03989", saga: "https://arxiv.org/abs/2601.09723" }[of]}>{say.paperBy[of]}</a>;
}
