// <closeread-leaderboard src="results.json">: systems by score, with intervals and ledgers; any row can be scored again.
// What stands inside the element is shown where there is no JavaScript.

import type { Scorecard } from "./closeread_scorer.js";
import { make } from "../dom.js";
import { percent } from "../percent.js";
import { csv, save, styled } from "./dom.js";
import { fetched } from "./files.js";
import { LEDGER, metricNames, score, type Scoring } from "./scoring.js";
import { words } from "./words.js";

/** What `src` holds. */
interface Results {
    title?: string;
    /** The gold items, relative to `src`: what rows are scored against when they are checked. */
    gold?: string;
    /** How: as `closeread score` was told. */
    scoring?: Scoring;
    rows: Row[];
}

interface Row {
    name: string;
    /** A page about the system, relative to `src`. */
    url?: string;
    /** Its predictions, relative to `src`. */
    predictions?: string;
    /** What `closeread score --json` printed; `items` may be left out. */
    scorecard: Omit<Scorecard, "items"> & Partial<Pick<Scorecard, "items">>;
}

const STYLE = `
.bar { position: relative; display: inline-block; width: 8rem; height: .8rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
.bar .range { position: absolute; top: .3rem; height: .2rem; background: var(--mark); opacity: .6; }
.bar .value { position: absolute; top: .1rem; width: 2px; height: .6rem; background: var(--ink); }
th button { border: 0; padding: 0; background: none; color: inherit; cursor: pointer; text-decoration: underline dotted; }
`;

class Leaderboard extends HTMLElement {
    readonly #root = styled(this, STYLE);
    readonly #status = make("p", { role: "status", class: "note" });
    readonly #body = make("div", { class: "scroll" });
    #results: Results = { rows: [] };
    #base = document.baseURI;
    /** Words that the systems shown have in their names. */
    #wanted = "";
    #column = "";
    #down = true;

    async connectedCallback(): Promise<void> {
        if (this.#root.childElementCount > 0) return;
        this.#root.append(make("slot"));
        try {
            this.#base = new URL(this.getAttribute("src") ?? "results.json", document.baseURI).href;
            const { content } = await fetched(this.#base, words(this));
            this.#results = checked(JSON.parse(new TextDecoder().decode(content as Uint8Array)), this.#base);
            this.#column = this.#metrics()[0] ?? "";
            this.#root.replaceChildren(this.#tools(), this.#status, this.#body);
            this.#draw();
        } catch (error) {
            this.#root.prepend(make("p", { role: "alert", class: "problem" }, error instanceof Error ? error.message : String(error)));
        }
    }

    /** Search and CSV. */
    #tools(): HTMLElement {
        const say = words(this);
        const search = make("input", { type: "search", id: "search", autocomplete: "off" });
        search.addEventListener("input", () => {
            this.#wanted = search.value.trim().toLowerCase();
            this.#draw();
        });
        const all = make("button", { type: "button", id: "csv" }, say.saveBoard);
        all.addEventListener("click", () => {
            const metrics = this.#metrics();
            const rows = this.#sorted().map(({ row: { name, scorecard }, rank }) => [
                rank ?? "",
                name,
                ...metrics.flatMap((metric): (string | number)[] => {
                    const found = scorecard.metrics[metric];
                    return found ? [found.value, found.low, found.high, found.n] : ["", "", "", ""];
                }),
                ...LEDGER.map((ending) => scorecard.ledger[ending]),
            ]);
            const heads = [say.rank, say.name, ...metrics.flatMap((metric) => [metric, `${metric} low`, `${metric} high`, `${metric} n`]), ...LEDGER];
            save("leaderboard.csv", csv([heads, ...rows]), "text/csv");
        });
        return make("p", { class: "tools" }, make("label", { for: "search" }, say.search), search, all);
    }

    /** The metrics of all rows, the first row's main one first. */
    #metrics(): string[] {
        return [...new Set(this.#results.rows.flatMap(({ scorecard }) => metricNames(scorecard)))];
    }

    /** By the column; rows without the score, and incomplete ones, stand last and have no rank. */
    #sorted(): { row: Row; rank: number | undefined }[] {
        const value = ({ scorecard }: Row) => scorecard.metrics[this.#column]?.value;
        const ranks = (row: Row) => row.scorecard.complete && value(row) !== undefined;
        const sign = this.#down ? -1 : 1;
        const rows = [...this.#results.rows].sort(
            (a, b) => Number(ranks(b)) - Number(ranks(a)) || sign * ((value(a) ?? -1) - (value(b) ?? -1)) || a.name.localeCompare(b.name),
        );
        const better = (row: Row) => rows.filter((other) => ranks(other) && value(other)! > value(row)!).length;
        // A search leaves the ranks as they are.
        const ranked = rows.map((row) => ({ row, rank: ranks(row) ? better(row) + 1 : undefined }));
        return ranked.filter(({ row }) => row.name.toLowerCase().includes(this.#wanted));
    }

    #draw(): void {
        const [say, metrics] = [words(this), this.#metrics()];
        const ended = LEDGER.filter((name) => this.#results.rows.some(({ scorecard }) => scorecard.ledger[name] > 0));
        const head = (name: string, sortable: boolean) => {
            if (!sortable) return make("th", { scope: "col" }, name);
            const button = make("button", { type: "button" }, name);
            button.addEventListener("click", () => {
                this.#down = this.#column === name ? !this.#down : true;
                this.#column = name;
                this.#draw();
                const place = metrics.indexOf(name);
                this.#body.querySelectorAll<HTMLButtonElement>("thead button")[place]?.focus();
            });
            const sort = this.#column !== name ? "none" : this.#down ? "descending" : "ascending";
            return make("th", { scope: "col", "aria-sort": sort }, button);
        };
        const canCheck = this.#results.rows.some((row) => row.predictions !== undefined);
        const heads = [
            head(say.rank, false),
            head(say.name, false),
            ...metrics.map((name) => head(name, true)),
            ...ended.map((name) => head(name, false)),
            ...(canCheck ? [head(say.verify, false)] : []),
        ];
        const body = this.#sorted().map(({ row, rank }) =>
            make(
                "tr",
                {},
                make("td", {}, rank !== undefined ? String(rank) : row.scorecard.complete ? "–" : say.unranked),
                make("th", { scope: "row" }, row.url === undefined ? row.name : link(row.url, this.#base, row.name)),
                ...metrics.map((name) => make("td", {}, ...estimate(row.scorecard.metrics[name]))),
                ...ended.map((name) => make("td", { class: "number" }, String(row.scorecard.ledger[name]))),
                ...(canCheck ? [make("td", {}, this.#checker(row))] : []),
            ),
        );
        this.#body.replaceChildren(
            make("table", {}, make("caption", {}, this.#results.title ?? say.board), make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body)),
        );
        const [n, of] = [body.length, this.#results.rows.length];
        this.#status.textContent = [this.#column === "" ? "" : say.sorted(this.#column, this.#down), n < of ? say.found(n, of) : ""]
            .filter((part) => part !== "")
            .join(" ");
    }

    #checker(row: Row): Node {
        const say = words(this);
        if (row.predictions === undefined) return make("span", {});
        const button = make("button", { type: "button", "aria-label": say.verifyRow(row.name) }, say.verify);
        const verdict = make("span", { role: "status" });
        button.addEventListener("click", async () => {
            verdict.textContent = ` ${say.verifying}`;
            try {
                const at = (path: string) => new URL(path, this.#base).href;
                const gold = this.#results.gold === undefined ? undefined : await fetched(at(this.#results.gold), say);
                const predictions = await fetched(at(row.predictions!), say);
                const again = JSON.parse(await score(gold, predictions, this.#results.scoring ?? {}, say)) as Scorecard;
                const other = difference(row.scorecard, again);
                verdict.textContent = ` ${other === undefined ? say.verified : say.differs(other)}`;
            } catch (error) {
                verdict.textContent = ` ${error instanceof Error ? error.message : String(error)}`;
            }
        });
        return make("span", {}, button, verdict);
    }
}

function estimate(scores: { value: number; low: number; high: number } | undefined): Node[] {
    if (scores === undefined) return [document.createTextNode("–")];
    const { value, low, high } = scores;
    const range = make("span", { class: "range" });
    range.style.left = `${100 * low}%`;
    range.style.width = `${100 * (high - low)}%`;
    const mark = make("span", { class: "value" });
    mark.style.left = `${100 * value}%`;
    return [
        document.createTextNode(`${percent(value)} [${percent(low)}, ${percent(high)}] `),
        make("span", { class: "bar", "aria-hidden": "true" }, range, mark),
    ];
}

/** The first number of a row that scoring it again does not give, to the last digit; or its claim to be complete, without which it has no rank. */
function difference(claimed: Row["scorecard"], again: Scorecard): string | undefined {
    for (const name of new Set([...Object.keys(claimed.metrics), ...Object.keys(again.metrics)])) {
        const [a, b] = [claimed.metrics[name], again.metrics[name]];
        if (a === undefined || b === undefined) return `${name}: ${a === undefined ? "–" : percent(a.value)}, ${b === undefined ? "–" : percent(b.value)}`;
        for (const part of ["value", "low", "high", "n"] as const) {
            if (a[part] !== b[part]) return `${name}, ${part}: ${a[part]}, ${b[part]}`;
        }
    }
    for (const name of ["trials", ...LEDGER] as const) {
        if (claimed.ledger[name] !== again.ledger[name]) return `${name}: ${claimed.ledger[name]}, ${again.ledger[name]}`;
    }
    if (claimed.complete !== again.complete) return `complete: ${claimed.complete}, ${again.complete}`;
    return undefined;
}

/** Only addresses that lead to a page become links. */
function link(url: string, base: string, name: string): Node {
    const to = URL.canParse(url, base) ? new URL(url, base) : undefined;
    const leads = to?.protocol === "https:" || to?.protocol === "http:";
    return leads ? make("a", { href: to!.href, rel: "noopener" }, name) : document.createTextNode(name);
}

function checked(results: unknown, url: string): Results {
    const rows = (results as Results | null)?.rows;
    if (!Array.isArray(rows)) throw new Error(`${url}: expected {"rows": [{"name", "scorecard"}]}`);
    rows.forEach((row, n) => {
        const { name, scorecard } = (row ?? {}) as Partial<Row>;
        if (typeof name !== "string" || scorecard?.metrics === undefined || scorecard.ledger === undefined) {
            throw new Error(`${url}, row ${n + 1}: expected a "name" and a "scorecard" as \`closeread score --json\` prints it`);
        }
    });
    return results as Results;
}

if (!customElements.get("closeread-leaderboard")) customElements.define("closeread-leaderboard", Leaderboard);
