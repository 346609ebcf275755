/** What is known of a book that was read. */
export interface BookFacts {
    name: string;
    /** In an EPUB's metadata; else empty. */
    title: string;
    /** ISO 639-1 code, given or detected. */
    language: string;
    /** `EPUB` for one. */
    encoding: string;
    /** Bytes of the whole file as decoded to UTF-8: what offsets count. */
    nBytes: number;
    firstPassage: number;
    nPassages: number;
    /** Of all passages. */
    nTokens: number;
}

/** A piece of gold evidence, as in items.jsonl. */
export interface Evidence {
    /** The book's name; any, where it is left out. */
    document?: string;
    quote?: string;
    start?: number;
    end?: number;
}

/** Where evidence stands; `null` for what was not found, and notes for people. */
export interface FoundEvidence {
    places: (Place | null)[];
    notes: string[];
}

/** Bytes `start` to `end` of a book, by its number. */
export interface Place {
    book: number;
    start: number;
    end: number;
}

/** Passages without their texts. */
export interface Retrieved {
    /** Sum of all passages' tokens. */
    tokens: number;
    /** Share of the evidence inside them, 0 to 1; `null` where none is known. */
    recall: number | null;
    nPassages: number;
    /** Of these, how many the ranking gave more than 0: under BM25, how many share a word with the question. */
    nMatched: number;
    /** What they cover, in document order; passages that follow each other are one. */
    spans: Place[];
    /** In the order asked for, the first `first` of them. */
    passages: (Place & { index: number; score: number; tokens: number })[];
}

/** A chapter from its heading to the next one, in bytes. */
export interface Chapter {
    title: string;
    start: number;
    end: number;
}

export interface RecallAt {
    budget: number;
    tokens: number;
    /** Share of the evidence, 0 to 1; `null` where none is known. */
    recall: number | null;
    nPassages: number;
    /** Passages that follow each other are one place. */
    nPlaces: number;
}

/** What a ranking is worth by the evidence, each 0 to 1, as `closeread retrieve` has it. */
export interface RankingScores {
    mrr: number;
    /** Share of the bytes within the budget that are evidence. */
    precision: number;
    at: { k: number; hit: number; ndcg: number; precision: number; recall: number }[];
}

export interface ToEmbed {
    passages: number[];
    texts: string[];
}

/** One vector a passage, one after another. */
export interface PassageVectors {
    dimension: number;
    passages: Uint32Array;
    values: Float32Array;
}
