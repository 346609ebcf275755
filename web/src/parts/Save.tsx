// The buttons that save a figure.

import type { RefObject } from "preact";
import { useSession, useWords } from "../context.js";
import * as words from "../words/parts.js";
import { csv, png, saveFile, standalone } from "./export.js";

export function Save({
    name,
    title,
    rows,
    figure,
}: {
    name: string;
    title: string;
    rows: () => (string | number)[][];
    figure: RefObject<HTMLElement | SVGElement | null>;
}) {
    const session = useSession();
    const say = useWords(words);
    const save = (ending: string, content: () => BlobPart | Promise<BlobPart>, type: string) => () =>
        session.attempt(async () => {
            saveFile(`${name}.${ending}`, await content(), type);
            session.say(say.saved(`${name}.${ending}`));
        });
    return (
        <div class="save" role="group" aria-label={say.export(title)}>
            <button type="button" class="quiet" data-save="csv" onClick={save("csv", () => csv(rows()), "text/csv")}>
                {say.csv}
            </button>
            <button type="button" class="quiet" data-save="svg" onClick={save("svg", () => standalone(figure.current!), "image/svg+xml")}>
                {say.svg}
            </button>
            <button type="button" class="quiet" data-save="png" onClick={save("png", () => png(figure.current!), "image/png")}>
                {say.png}
            </button>
        </div>
    );
}
