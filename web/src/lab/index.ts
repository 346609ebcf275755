// The retrieval lab: what each order would hand to a model, at any budget.

import { make } from "../dom.js";
import type { Asking } from "../messages/lab.js";
import type { Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as allWords from "../words/lab.js";
import { Columns, SHOWN } from "./columns.js";
import { Controls } from "./controls.js";
import { Curve } from "./curve.js";
import { Embedding } from "./embedding.js";
import { progressLine } from "./progress.js";
import { Reading } from "./reading.js";
import { Strip, type Stand } from "./strip.js";

/** Milliseconds between two drawings while vectors arrive. */
const REDRAW = 400;

export function mount(section: HTMLElement, session: Session): void {
    const words = inLanguage(allWords);
    const embedding = (session.kept.get("lab/embedding") as Embedding | undefined) ?? new Embedding(session);
    session.kept.set("lab/embedding", embedding);

    const controls = new Controls(session, words, embedding, () => session.attempt(ask), () => redraw());
    const strip = new Strip(words, (byte) => session.attempt(async () => reading.open(await session.core.ask("lab/at", { byte }))));
    const curve = new Curve(words);
    const reading = new Reading(session, words, (read) => strip.mark(read));
    const columns = new Columns(words, (place) => session.attempt(() => reading.open(place)), () => {
        shown += SHOWN;
        redraw();
    });
    const summary = make("p", { id: "summary", role: "status" });
    const missing = make("p", { class: "note" });
    const found = make("section", { id: "found", "aria-labelledby": "found-heading", hidden: "" },
        make("h3", { id: "found-heading" }, words.map), summary, missing, strip.element,
        make("div", { class: "with-reading" }, make("div", {}, curve.element, columns.element), reading.element));
    const needBook = make("p", { class: "note" }, words.needBook);
    section.setAttribute("aria-labelledby", "lab-heading");
    section.replaceChildren(make("h2", { id: "lab-heading" }, words.heading), make("p", { class: "note" }, words.lead),
        needBook, controls.form, progressLine(section, embedding, words), found);

    let asking: Asking | undefined;
    let evidence: Stand[] = [];
    let shown = SHOWN;
    /** Whether a drawing is under way, and whether another was wanted meanwhile. */
    let [drawing, again] = [false, false];

    async function ask(): Promise<void> {
        if (session.book === undefined || controls.asking.question.trim() === "") return;
        asking = controls.asking;
        shown = SHOWN;
        reading.close();
        const gold = session.question.item?.evidence ?? [];
        const places = (await session.core.ask("lab/evidence", { evidence: gold })).places;
        evidence = places.filter((place) => place !== null);
        const n = places.length - evidence.length;
        missing.hidden = n === 0;
        missing.textContent = words.missing(n);
        if (asking.retriever !== "bm25") embedding.want(asking.question);
        await drawCurve();
        redraw();
    }

    /** By words until there is something to rank by meaning with. */
    const ranked = ({ retriever }: Asking): Pick<Asking, "retriever"> => ({ retriever: embedding.ranks ? retriever : "bm25" });

    async function drawCurve(): Promise<void> {
        if (asking === undefined) return;
        const budgets = controls.budgets;
        curve.show(evidence.length === 0 ? [] : await session.core.ask("lab/curve", { ...asking, ...ranked(asking), budgets }));
    }

    function redraw(): void {
        if (drawing) again = true;
        else session.attempt(drawAll);
    }

    async function drawAll(): Promise<void> {
        drawing = true;
        try {
            do {
                again = false;
                await drawOnce();
            } while (again);
        } finally {
            drawing = false;
        }
    }

    async function drawOnce(): Promise<void> {
        const { book } = session;
        if (asking === undefined || book === undefined) return;
        const mine = asking;
        const budget = controls.budget;
        const { byScore, byDocument, texts } = await session.core.ask("lab/retrieve", { ...mine, ...ranked(mine), budget, shown });
        if (asking !== mine || session.book !== book) return;
        const { nBytes, nPassages } = book.facts;
        const n = byScore.nPassages;
        found.hidden = false;
        summary.textContent = words.summary(n, nPassages, byScore.tokens, byScore.recall);
        strip.show(byScore.spans, n, evidence, nBytes);
        curve.mark(budget);
        columns.show(byScore.passages, byDocument.passages, n - byScore.passages.length, texts, evidence, nBytes);
    }

    function fit(): void {
        [asking, found.hidden] = [undefined, true];
        reading.close();
        needBook.hidden = session.book !== undefined;
        session.attempt(async () => {
            await controls.show(session);
            if (session.question.text !== "") await ask();
        });
    }

    let waiting = false;
    embedding.addEventListener("vectors", () => {
        if (!section.isConnected || waiting || asking === undefined || asking.retriever === "bm25") return;
        waiting = true;
        setTimeout(async () => {
            waiting = false;
            await session.attempt(drawCurve);
            redraw();
        }, REDRAW);
    });
    session.listen(section, "book", () => {
        fit();
        if (!section.hidden) controls.focus();
    });
    fit();
}
