// Tables and charts of a run, as the core computed and drew them.

import type { ShownChart, ShownReport, ShownTable } from "../closeread_wasm.js";
import { make } from "../dom.js";
import type { Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownText } from "./text.js";

/** Tables that are open at once; the others are a click away. */
const FIRST = ["scores", "ledger", "policies", "usage"];
let styled = false;

export async function showReport(place: HTMLElement, session: Session, run: number): Promise<void> {
    const { report, style } = await session.core.ask("runs/report", { id: run });
    if (!styled) {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(style);
        document.adoptedStyleSheets.push(sheet);
        styled = true;
    }
    place.replaceChildren(...parts(report, session, run));
}

function parts({ notes, tables, charts }: ShownReport, session: Session, run: number): Node[] {
    const say = inLanguage(words);
    const first = tables.filter(({ id }) => id === "scores");
    const others = tables.filter(({ id }) => id !== "scores");
    const download = make("button", { type: "button", id: "run-json" }, say.download);
    download.addEventListener("click", () => session.attempt(async () => {
        const json = await session.core.ask("runs/json", { id: run });
        const url = URL.createObjectURL(new Blob([`${json}\n`], { type: "application/json" }));
        const link = make("a", { href: url, download: "report.json" });
        link.click();
        setTimeout(() => URL.revokeObjectURL(url), 10_000);
    }));
    return [
        ...notes.map((note) => shownText("p", note, { class: "problem" })),
        ...first.flatMap(shownTable),
        ...(charts.length === 0 ? [] : [make("h3", {}, say.charts), make("div", { class: "charts" }, ...charts.map(shownChart))]),
        make("h3", {}, say.tables),
        ...others.map((table) => make("details", FIRST.includes(table.id) ? { open: "" } : {},
            make("summary", {}, table.title, ...(table.source === "" ? [] : [" ", make("small", {}, table.source)])),
            ...shownTable(table))),
        make("p", {}, download),
    ];
}

/** A table that scrolls in itself, and its notes. */
export function shownTable(table: ShownTable): Node[] {
    const say = inLanguage(words);
    const isNumber = (column: number) => table.rows.some((row) => row[column]?.kind === "number");
    const heads = table.columns.map((name, column) =>
        shownText("th", name, isNumber(column) ? { scope: "col", class: "number" } : { scope: "col" }));
    const rows = table.rows.map((row) => {
        const named = Math.max(1, row.findIndex(({ kind }) => kind !== "text"));
        return make("tr", {}, ...row.map(({ kind, text }, column) => {
            if (kind === "missing") return make("td", { class: "number" }, make("abbr", { title: text }, say.none));
            const attributes: Record<string, string> = kind === "number" ? { class: "number" } : {};
            return column < named ? shownText("th", text, { scope: "row", ...attributes }) : shownText("td", text, attributes);
        }));
    });
    const caption = shownText("caption", table.title);
    const whole = make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
    const scroll = make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": table.title }, whole);
    const notes = make("ul", { class: "notes note" }, ...table.notes.map((note) => shownText("li", note)));
    return table.notes.length === 0 ? [scroll] : [scroll, notes];
}

function shownChart({ title, note, svg }: ShownChart): HTMLElement {
    // The core's drawing, read as XML: names from data are escaped in it, and it holds no script.
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const caption = make("figcaption", {}, shownText("strong", title), ...(note === "" ? [] : [" ", make("small", {}, note)]));
    const say = inLanguage(words);
    const numbers = drawing.querySelector("desc")?.textContent ?? "";
    return make("figure", {}, caption, document.importNode(drawing, true),
        make("details", {}, make("summary", {}, say.inWords), shownText("p", numbers, { class: "note" })));
}


