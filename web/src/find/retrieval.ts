// What the core finds, followed as question, budget and vectors change.

import { useCallback, useEffect, useState } from "preact/hooks";
import { Embedding } from "../encoder/embedding.js";
import type { RankingScores, RecallAt } from "../closeread_books.js";
import type { Retrieval, Retriever } from "../messages/lab.js";
import type { Row } from "../parts/Stage.js";
import type { Stand } from "../parts/Ribbon.js";
import type { Session } from "../session.js";
import type { OpenBook, Question } from "../state/app.js";
import type { Settings, Shown } from "../state/find.js";

/** Passages that are listed at first, and with each press of "more". */
export const LISTED = 40;
/** Milliseconds between two rankings while vectors arrive. */
const AGAIN = 400;
/** Ranks at which a ranking is scored, those of `closeread retrieve`. */
const KS = [1, 3, 5, 10];

/** What embeds books, one for all views. */
export function embeddingOf(session: Session): Embedding {
    const kept = session.kept.get("embedding") as Embedding | undefined;
    const embedding = kept ?? new Embedding(session);
    session.kept.set("embedding", embedding);
    return embedding;
}

export interface Found {
    shown: Shown | undefined;
    /** The budget that it was found with. */
    budget: number | undefined;
    /** Whether another ranking is on its way: of another budget, or of vectors that have come since. */
    busy: boolean;
    curve: RecallAt[];
    /** What the ranking is worth, where evidence is known. */
    scores: RankingScores | null;
    evidence: Stand[];
    /** Pieces of gold evidence that are not in this book. */
    missing: number;
    /** Lists more passages. */
    more: () => void;
}

/** Passages that the reader said prove the answer, by book and question. */
export function markedEvidence(session: Session, book: OpenBook | undefined, question: Question): Map<number, Stand> {
    const name = `evidence/${book?.key}/${question.text}`;
    const kept = (session.kept.get(name) as Map<number, Stand> | undefined) ?? new Map<number, Stand>();
    session.kept.set(name, kept);
    return kept;
}

/** `stops` are the budgets of the curve; `marks` changes when the reader marks evidence. */
export function useRetrieval(
    session: Session,
    book: OpenBook | undefined,
    question: Question,
    { budget, retriever, neighbours }: Settings,
    stops: readonly number[],
    marks: number,
): Found {
    const embedding = embeddingOf(session);
    const [evidence, setEvidence] = useState<{ places: Stand[]; missing: number; of: unknown }>({ places: [], missing: 0, of: undefined });
    const [retrieval, setRetrieval] = useState<{ shown: Shown; budget: number; of: unknown; ranked: Retriever; vectors: number }>();
    const [curve, setCurve] = useState<RecallAt[]>([]);
    const [scores, setScores] = useState<RankingScores | null>(null);
    const [listed, setListed] = useState(LISTED);
    // How often vectors have come, and of what is ranked.
    const [come, setCome] = useState(0);
    const [vectors, setVectors] = useState(0);
    const asked = book !== undefined && question.text.trim() !== "";
    // By words until there is something to rank by meaning with.
    const ranked = embedding.hasSome ? retriever : "bm25";

    useEffect(() => {
        let [timer, n] = [0, 0];
        const changed = () => {
            setCome(++n);
            timer ||= window.setTimeout(() => {
                timer = 0;
                setVectors(n);
            }, AGAIN);
        };
        embedding.addEventListener("vectors", changed);
        return () => {
            clearTimeout(timer);
            embedding.removeEventListener("vectors", changed);
        };
    }, [embedding]);
    useEffect(() => setListed(LISTED), [book, question]);
    useEffect(() => {
        if (asked && retriever !== "bm25") void embedding.want(question.text);
    }, [book, question, retriever]);
    useEffect(() => {
        if (!asked) return;
        let wanted = true;
        void session.attempt(async () => {
            const mine = [...markedEvidence(session, book, question).values()];
            const { places } = await session.core.ask("lab/evidence", { evidence: question.item?.evidence ?? mine });
            const found = places.filter((place) => place !== null);
            if (wanted) setEvidence({ places: found, missing: places.length - found.length, of: question });
        });
        return () => void (wanted = false);
    }, [book, question, marks]);
    const known = evidence.of === question;
    useEffect(() => {
        if (!asked || !known) return;
        let wanted = true;
        void session.attempt(async () => {
            const found = await session.core.ask("lab/retrieve", { question: question.text, budget, retriever: ranked, neighbours, shown: listed });
            if (wanted) setRetrieval({ shown: shownOf(found, ranked), budget, of: question, ranked, vectors });
            const worth = await session.core.ask("lab/scores", { question: question.text, budget, ks: KS, retriever: ranked, neighbours });
            if (wanted) setScores(worth);
        });
        return () => void (wanted = false);
    }, [book, question, evidence, budget, ranked, neighbours, listed, vectors]);
    useEffect(() => {
        if (!asked || !known) return;
        let wanted = true;
        void session.attempt(async () => {
            const found = await session.core.ask("lab/curve", { question: question.text, budgets: [...stops], retriever: ranked, neighbours });
            if (wanted) setCurve(found);
        });
        return () => void (wanted = false);
    }, [book, question, evidence, ranked, neighbours, stops, vectors]);

    return {
        shown: asked && retrieval?.of === question ? retrieval.shown : undefined,
        budget: retrieval?.budget,
        curve,
        scores,
        busy: retrieval?.budget !== budget || retrieval.ranked !== ranked || retrieval.vectors !== come,
        missing: evidence.missing,
        evidence: known ? evidence.places : [],
        more: useCallback(() => setListed((n) => n + LISTED), []),
    };
}

function shownOf({ byScore, byDocument, texts }: Retrieval, ranked: string): Shown {
    const rows = ({ passages }: Retrieval["byScore"]): Row[] => passages.map((passage) => ({ ...passage, text: texts.get(passage.index) ?? "" }));
    const { nPassages: n, nMatched, tokens, recall, spans } = byScore;
    // By meaning, everything is more or less near.
    return { byScore: rows(byScore), byBook: rows(byDocument), n, nMatched: ranked === "bm25" ? nMatched : n, tokens, recall, spans };
}
