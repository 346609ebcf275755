/** The bytes of a .txt, .md or .epub file, or the text of a book. */
export type BookFile = Uint8Array | string;

/** How a book is read and cut; what is left out has the command line's default. */
export interface ChunkOptions {
    /** Default `dos`. */
    chunker?: "dos" | "window" | "sentences" | "sections";
    /** Default: the chunker's own, 100 for `dos`. */
    maxTokens?: number;
    /** What tokens are counted by; default `cl100k`. */
    tokenizer?: "cl100k" | "o200k";
    /** ISO 639-1 code; detected if left out. */
    language?: string;
    /** WHATWG label; detected if left out. */
    encoding?: string;
    /** Keep Project Gutenberg's header and trailer. */
    keepFrame?: boolean;
}

/** How a book is searched. */
export interface SearchOptions {
    /** Most tokens of all passages together; default 5000. */
    budget?: number;
    /** Default `document`. */
    order?: "score" | "document";
    /** Go on behind a passage that does not fit; default false. */
    skip?: boolean;
}

/** One passage. */
export interface ListedPassage {
    /** Number in document order, from 0. */
    index: number;
    /** First byte in the file as decoded to UTF-8. */
    start: number;
    /** One past the last byte. */
    end: number;
    /** BM25; absent where nothing was searched for. */
    score?: number;
    /** Tokens of `text`. */
    tokens: number;
    /** What a model would see. */
    text: string;
}

/** All passages of a book, in document order. */
export interface Listing {
    passages: ListedPassage[];
}

/** The passages that a search found, in the order asked for. */
export interface Found {
    /** Sum of the passages' tokens. */
    tokens: number;
    passages: ListedPassage[];
}
