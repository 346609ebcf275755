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
    places: ({ book: number; start: number; end: number } | null)[];
    notes: string[];
}

/** Passages without their texts, in the order asked for. */
export interface Retrieved {
    /** Sum of the passages' tokens. */
    tokens: number;
    /** Share of the evidence inside them, 0 to 1; `null` where none is known. */
    recall: number | null;
    passages: { index: number; book: number; start: number; end: number; score: number; tokens: number }[];
}

export interface RecallAt {
    budget: number;
    tokens: number;
    recall: number | null;
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
