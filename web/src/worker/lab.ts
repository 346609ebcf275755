// The worker's side of the retrieval lab: every number is the core's.

import { modelFacts, type Index, type Retrieved } from "../closeread_books.js";
import type { Stretch } from "../messages/lab.js";
import { openBook } from "./book.js";
import type { Handlers } from "./handlers.js";
import { keep, kept } from "../encoder/store.js";

/** Evidence of the open book, in bytes. */
let evidence: { start: number; end: number }[] = [];
let evidenceOf: Index | undefined;

export const lab = {
    "lab/retrieve": ({ question, budget, retriever, neighbours, shown }) => {
        const { index } = openBook();
        const options = { budget, retriever, neighbours, first: shown };
        const byScore = index.retrieve(question, { ...options, order: "score" });
        const byDocument = index.retrieve(question, { ...options, order: "document" });
        const listed = ({ passages }: Retrieved) => passages.map((passage) => passage.index);
        const wanted = new Uint32Array(new Set([...listed(byScore), ...listed(byDocument)]));
        const texts = index.texts(wanted);
        return { byScore, byDocument, texts: new Map(Array.from(wanted, (passage, n) => [passage, texts[n] ?? ""])) };
    },
    "lab/evidence": ({ evidence: wanted }) => {
        const { index } = openBook();
        const found = index.setEvidence(wanted);
        [evidence, evidenceOf] = [found.places.filter((place) => place !== null), index];
        return found;
    },
    "lab/curve": ({ question, budgets, retriever, neighbours }) => openBook().index.recallCurve(question, new Uint32Array(budgets), { retriever, neighbours }),
    "lab/scores": ({ question, budget, ks, retriever, neighbours }) =>
        openBook().index.rankingScores(question, new Uint32Array(ks), { budget, retriever, neighbours }),
    "lab/at": ({ byte }) => {
        const { index } = openBook();
        const passage = index.passageAt(0, byte);
        return { ...index.place(passage), index: passage };
    },
    "lab/read": ({ start, end, margin }) => {
        const { index } = openBook();
        const gold = evidenceOf === index ? evidence : [];
        const { nBytes } = index.book(0);
        const [from, to] = [Math.max(0, start - margin), Math.min(nBytes, end + margin)];
        const cuts = [from, start, end, to, ...gold.flatMap((span) => [span.start, span.end])];
        const places = [...new Set(cuts)].filter((at) => at >= from && at <= to).sort((a, b) => a - b);
        const inside = (span: { start: number; end: number }, at: number) => span.start <= at && at < span.end;
        const stretches = places.slice(0, -1).map(
            (at, n): Stretch => ({
                text: index.slice(0, at, places[n + 1]!),
                passage: inside({ start, end }, at),
                evidence: gold.some((span) => inside(span, at)),
            }),
        );
        return { from, stretches };
    },
    "lab/model": ({ toml }) => modelFacts(toml),
    "lab/expect": async ({ model, dimension }) => {
        const { index } = openBook();
        index.expectVectors(dimension, model);
        if (index.nVectors < index.nPassages) {
            const before = await kept(key(index, model));
            if (before?.dimension === dimension) index.putVectors(before.passages, before.values);
        }
        return progress(index);
    },
    "lab/next": ({ question, n }) => openBook().index.nextToEmbed(question, n),
    "lab/vectors": ({ passages, values }) => {
        const { index } = openBook();
        index.putVectors(new Uint32Array(passages), values);
        return progress(index);
    },
    "lab/give-back": ({ passages }) => openBook().index.giveBack(new Uint32Array(passages)),
    "lab/query": ({ question, vector }) => openBook().index.putQueryVector(question, vector),
    "lab/keep": ({ model }) => {
        const { index } = openBook();
        return keep(key(index, model), index.vectors());
    },
} satisfies Handlers;

function key(index: Index, model: string): string {
    return `${index.contentKey}/${model}`;
}

function progress(index: Index): { done: number; total: number } {
    return { done: index.nVectors, total: index.nPassages };
}
