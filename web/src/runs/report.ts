// Tables and charts of a run, as the core computed and drew them.

import type { ShownChart, ShownReport, ShownTable } from "../closeread_wasm.js";
import { button, make } from "../dom.js";
import type { HeldRun } from "../messages/runs.js";
import { csv, saveFile } from "../parts/export.js";
import type { Session } from "../session.js";
import { comparing, firstPair } from "../state/runs.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownText, visible } from "./text.js";

/** Tables that are open at once; the others are a click away. */
const FIRST = ["scores", "ledger", "policies", "usage"];
let styled = false;

export async function showReport(place: HTMLElement, session: Session, { id: run, facts }: HeldRun): Promise<void> {
    const [{ report, style }, finding] = await Promise.all([session.core.ask("runs/report", { id: run }), findingOf(session, run, facts)]);
    if (!styled) {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(style);
        document.adoptedStyleSheets.push(sheet);
        styled = true;
    }
    place.replaceChildren(...(finding === "" ? [] : [shownText("p", finding, { class: "finding", id: "finding" })]), ...parts(report, session, run));
}

/** One sentence before all numbers: what the run says of the two orders, or of its first two comparable cells. */
async function findingOf(session: Session, run: number, { arms }: HeldRun["facts"]): Promise<string> {
    const [a, b] = firstPair(arms);
    if (a === b) return "";
    const compared = await session.core.ask("runs/compare", { a: run, b: run, options: comparing(arms[a], arms[b]) }).catch(() => []);
    return compared[0]?.conclusion ?? "";
}

function parts({ notes, tables, charts }: ShownReport, session: Session, run: number): Node[] {
    const say = inLanguage(words);
    const first = tables.filter(({ id }) => id === "scores");
    const others = tables.filter(({ id }) => id !== "scores");
    const download = button(
        say.download,
        () => session.attempt(async () => saveFile("report.json", `${await session.core.ask("runs/json", { id: run })}\n`, "application/json")),
        { id: "run-json" },
    );
    return [
        ...notes.map((note) => shownText("p", note, { class: "problem" })),
        ...first.flatMap(shownTable),
        ...(charts.length === 0 ? [] : [make("h2", {}, say.charts), make("div", { class: "charts" }, ...charts.map(shownChart))]),
        make("h2", {}, say.tables),
        ...others.map((table) =>
            make(
                "details",
                FIRST.includes(table.id) ? { open: "" } : {},
                make("summary", {}, table.title, ...(table.source === "" ? [] : [" ", make("small", {}, table.source)])),
                ...shownTable(table),
            ),
        ),
        make("p", {}, download),
    ];
}

/** A table that scrolls in itself, and its notes. */
export function shownTable(table: ShownTable): Node[] {
    const say = inLanguage(words);
    const isNumber = (column: number) => table.rows.some((row) => row[column]?.kind === "number");
    const body = make("tbody");
    const drawn = (rows: ShownTable["rows"]) =>
        body.replaceChildren(
            ...rows.map((row) => {
                const named = Math.max(
                    1,
                    row.findIndex(({ kind }) => kind !== "text"),
                );
                return make(
                    "tr",
                    {},
                    ...row.map(({ kind, text }, column) => {
                        if (kind === "missing") return make("td", { class: "number" }, make("abbr", { title: text }, say.none));
                        const attributes: Record<string, string> = kind === "number" ? { class: "number" } : {};
                        if (column < named) return shownText("th", text, { scope: "row", ...attributes });
                        return kind === "number" && text !== plain(text)
                            ? make("td", attributes, make("strong", {}, plain(text)))
                            : shownText("td", text, attributes);
                    }),
                );
            }),
        );
    drawn(table.rows);
    const heads = table.columns.map((name, column) => {
        const head = make("th", isNumber(column) ? { scope: "col", class: "number" } : { scope: "col" });
        head.append(
            button(
                visible(name),
                () => {
                    const down = head.getAttribute("aria-sort") !== "descending";
                    for (const other of heads) other.removeAttribute("aria-sort");
                    head.setAttribute("aria-sort", down ? "descending" : "ascending");
                    drawn(sorted(table.rows, column, down));
                },
                { class: "sort", title: say.sortBy(visible(name)) },
            ),
        );
        return head;
    });
    const caption = shownText("caption", table.title);
    const whole = make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body);
    const scroll = make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": table.title }, whole);
    const notes = make("ul", { class: "notes note" }, ...table.notes.map((note) => shownText("li", note)));
    const rows = () => table.rows.map((row) => row.map(({ kind, text }) => (kind === "number" ? plain(text) : text)));
    const save = make(
        "p",
        { class: "save" },
        button("CSV", () => saveFile(`${table.id}.csv`, csv([table.columns, ...rows()]), "text/csv"), {
            class: "quiet",
            "aria-label": say.saveTable(table.title),
        }),
    );
    return table.notes.length === 0 ? [scroll, save] : [scroll, notes, save];
}

/** A number without the marks of Markdown of a column's best one. */
function plain(text: string): string {
    return text.replace(/^\*\*(.*)\*\*$/, "$1");
}

/** Rows by what a column shows: numbers by size, words by alphabet; what is missing comes last. */
function sorted(rows: ShownTable["rows"], column: number, down: boolean): ShownTable["rows"] {
    const key = (row: ShownTable["rows"][number]) => {
        const value = row[column];
        if (!value || value.kind === "missing") return undefined;
        const number = Number.parseFloat(plain(value.text).replaceAll(",", ""));
        return value.kind === "number" && !Number.isNaN(number) ? number : value.text;
    };
    return [...rows].sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return down ? -order : order;
    });
}

function shownChart({ title, note, svg }: ShownChart): HTMLElement {
    // The core's drawing, read as XML: names from data are escaped in it, and it holds no script.
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const caption = make("figcaption", {}, shownText("strong", title), ...(note === "" ? [] : [" ", make("small", {}, note)]));
    const say = inLanguage(words);
    const numbers = drawing.querySelector("desc")?.textContent ?? "";
    return make(
        "figure",
        {},
        caption,
        document.importNode(drawing, true),
        make("details", {}, make("summary", {}, say.inWords), shownText("p", numbers, { class: "note" })),
    );
}
