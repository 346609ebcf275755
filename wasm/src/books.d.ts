/** The bytes of a .txt, .md, .epub or .html file, or the text of a book. */
export type BookFile = Uint8Array | string;

/** How a file is read; what is left out has the command line's default. */
export interface ReadOptions {
    /** ISO 639-1 code; detected if left out. */
    language?: string;
    /** WHATWG label; detected if left out. */
    encoding?: string;
    /** Keep Project Gutenberg's header and trailer. */
    keepFrame?: boolean;
    /** Keep every line break of a hard-wrapped book. */
    keepWraps?: boolean;
}

/** How a book is cut; what is left out has the command line's default. */
export interface CutOptions {
    /** Default `dos`. */
    chunker?: "dos" | "stronger-baselines" | "window" | "sentences" | "sections";
    /** Default: the chunker's own, 100 for `dos`. */
    maxTokens?: number;
    /** What tokens are counted by; default `cl100k`. It must have been provided. */
    tokenizer?: "cl100k" | "o200k";
}

/** How a book is searched; what is left out has the command line's default. */
export interface SearchOptions {
    /** Most tokens of all passages together; default 1500. */
    budget?: number;
    /** Default `document`. */
    order?: "score" | "document";
    /** Go on behind a passage that does not fit; default false. */
    skip?: boolean;
    /** Default `bm25`. The others need vectors, as far as they have come. */
    retriever?: "bm25" | "dense" | "hybrid";
    /** Passages on each side of a ranked one that are ranked right behind it; default 0. */
    neighbours?: number;
    /** `retrieve` lists so many passages; default: all. */
    first?: number;
}

/** One passage. */
export interface ListedPassage {
    /** Number in document order, from 0. */
    index: number;
    /** First byte in the file as decoded to UTF-8. */
    start: number;
    /** One past the last byte. */
    end: number;
    /** Under the retriever; absent where nothing was searched for. */
    score?: number;
    /** Tokens of `text`. */
    tokens: number;
    /** What a model would see. */
    text: string;
}

/** All passages, in document order. */
export interface Listing {
    passages: ListedPassage[];
}

/** The passages that a search found, in the order asked for. */
export interface Found {
    /** Sum of the passages' tokens. */
    tokens: number;
    passages: ListedPassage[];
}
