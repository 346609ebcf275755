// Generated from the Rust types: UPDATE_EXPECT=1 and the test `typescript` write it anew.

/** What is known of a book that was read. */
export type BookFacts = {
    /** Name of the book. */
    name: string,
    /** Title in an EPUB's metadata; else empty. */
    title: string,
    /** Language as ISO 639-1 code, given or detected. */
    language: string,
    /** Encoding of the file; `EPUB` for one. */
    encoding: string,
    /** Bytes of the whole file as decoded to UTF-8: what offsets count. */
    nBytes: number,
    /** Number of the first passage in the index, from 0. */
    firstPassage: number,
    /** Number of passages. */
    nPassages: number,
    /** Tokens of all passages. */
    nTokens: number,
};

/** A chapter from its heading to the next one, in bytes. */
export type Chapter = {
    /** Words of the heading. */
    title: string,
    /** First byte in the book. */
    start: number,
    /** One past the last byte. */
    end: number,
};

/** The cosine of two passages as another implementation computes it. */
export type Check = {
    /** Text of the first passage. */
    a: string,
    /** Text of the second passage. */
    b: string,
    /** Cosine of the passages with the published weights in f32, -1..1. */
    cosine: number,
    /** Tolerance: how far rounded weights may move the cosine. */
    tolerance: number,
};

/** A way to cut a text into passages. */
export type Chunker = "dos" | "stronger-baselines" | "window" | "sentences" | "sections";

/** The options by which books are cut. */
export type CutOptions = Partial<{
    /** The way to cut; default `dos`. */
    chunker: Chunker,
    /** Most tokens of a passage; default: the chunker's own, 100 for `dos`. */
    maxTokens: number | null,
    /** Tokenizer that counts; default `cl100k`. It must have been provided. */
    tokenizer: TokenizerName,
}>;

/** A passage of a document that holds (part of) the answer. */
export type Evidence = {
    /** The document it stands in; absent where the item has one document. */
    document?: string,
    /** Words of the passage. */
    quote?: string,
    /** First byte in the document's file as decoded to UTF-8; absent means: look the quote up. */
    start?: number,
    /** End in bytes: one past the last byte. */
    end?: number,
};

/** The passages that a search found. */
export type Found = {
    /** Sum of the passages' tokens. */
    tokens: number,
    /** Passages in the order asked for. */
    passages: Array<ListedPassage>,
};

/** The places of evidence. */
export type FoundEvidence = {
    /** The place of each piece, in the order given; `null` for one that was not found. */
    places: Array<Place | null>,
    /** Notes for people. */
    notes: Array<string>,
};

/** A repository on a Hugging Face hub. */
export type Hub = {
    /** Name of the repository, `owner/name`. */
    repo: string,
    /** Branch, tag or commit. */
    revision: string,
    /** Licence of the weights (SPDX). */
    licence: string,
};

/** One passage. */
export type ListedPassage = {
    /** Number in document order, from 0. */
    index: number,
    /** First byte in the file as decoded to UTF-8. */
    start: number,
    /** End in bytes: one past the last byte. */
    end: number,
    /** Score under the retriever; absent where nothing was searched for. */
    score?: number,
    /** Number of tokens of `text`. */
    tokens: number,
    /** Text that a model would see: the sentences joined by one space, wraps undone. */
    text: string,
};

/** All passages of a book. */
export type Listing = {
    /** Passages in the order of the document. */
    passages: Array<ListedPassage>,
};

/**
 * The description of an embedding model: what must be known to use it as its authors meant.
 *
 * As TOML this is a model's `model.toml`; the three under `core/embed/assets/models` are the worked examples.
 */
export type ModelFacts = {
    /** Name, as `--embedder` takes it. */
    name: string,
    /** Number of values in a vector. */
    dimension: number,
    /** Longest input in tokens of the model, special tokens included; longer input is cut and counted. */
    max_tokens: number,
    /** Pooling, by which the last hidden states become one vector. */
    pooling: Pooling,
    /** Text that is written before a query. */
    query_prefix: string,
    /** Text that is written before a passage. */
    passage_prefix: string,
    /** Whether vectors are scaled to length 1. Every cosine here is a dot product, so this is rarely `false`. */
    normalize: boolean,
    /** Languages that the model is meant for (ISO 639-1); empty means: any. */
    languages: Array<string>,
    /** Repository where the model's files can be fetched; absent for a model that only exists as a folder. */
    hub?: Hub,
    /** A similarity known from another implementation, which `model verify` recomputes. */
    check?: Check,
};

/** The order in which the passages of a context stand. */
export type PassageOrder = "score" | "document";

/** Bytes `start` to `end` of a book, by its number. */
export type Place = {
    /** Number of the book, from 0. */
    book: number,
    /** First byte. */
    start: number,
    /** One past the last byte. */
    end: number,
};

/** The way in which the last hidden states become one vector. */
export type Pooling = "mean" | "cls";

/** The scores of a ranking by the evidence, each 0 to 1, as `closeread retrieve` has them. */
export type RankingScores = {
    /** One over the rank of the first passage that holds evidence. */
    mrr: number,
    /** Share of the bytes within the budget that are evidence. */
    precision: number,
    /** Scores of the first passages, for several numbers of them. */
    at: Array<ScoresAt>,
};

/** The options by which a file is read. */
export type ReadOptions = Partial<{
    /** Language as ISO 639-1 code; detected if left out. */
    language: string | null,
    /** Encoding as WHATWG label; detected if left out. */
    encoding: string | null,
    /** Whether Project Gutenberg's header and trailer are kept; default false. */
    keepFrame: boolean,
    /** Whether every line break of a hard-wrapped book is kept; default false. */
    keepWraps: boolean,
}>;

/** The passages that fit a budget, by the evidence. */
export type RecallAt = {
    /** Most tokens of all passages together. */
    budget: number,
    /** Sum of the passages' tokens. */
    tokens: number,
    /** Share of the evidence, 0 to 1; `null` where none is known. */
    recall: number | null,
    /** Number of passages. */
    nPassages: number,
    /** Number of places; passages that follow each other are one. */
    nPlaces: number,
};

/** Passages without their texts. */
export type Retrieved = {
    /** Sum of all passages' tokens. */
    tokens: number,
    /** Share of the evidence inside them, 0 to 1; `null` where none is known. */
    recall: number | null,
    /** Number of passages. */
    nPassages: number,
    /** Number of these that the ranking gave more than 0: under BM25, those that share a word with the question. */
    nMatched: number,
    /** Places that they cover, in document order; passages that follow each other are one. */
    spans: Array<Place>,
    /** The passages in the order asked for, the first `first` of them. */
    passages: Array<RetrievedPassage>,
};

/** A passage without its text. */
export type RetrievedPassage = {
    /** Number in document order, from 0. */
    index: number,
    /** Number of the book, from 0. */
    book: number,
    /** First byte. */
    start: number,
    /** One past the last byte. */
    end: number,
    /** Score under the retriever. */
    score: number,
    /** Tokens of its text. */
    tokens: number,
};

/** The retriever, whose ranking a method reads. */
export type Retriever = "dense" | "bm25" | "hybrid";

/** The scores of the first `k` passages of a ranking, each 0 to 1. */
export type ScoresAt = {
    /** Number of passages. */
    k: number,
    /** 1 if one of them holds evidence, else 0. */
    hit: number,
    /** Normalised discounted cumulative gain. */
    ndcg: number,
    /** Share of the passages that hold evidence. */
    precision: number,
    /** Share of the evidence that they hold. */
    recall: number,
};

/** The options of a search. */
export type SearchOptions = Partial<{
    /** Most tokens of all passages together; default 1500. */
    budget: number,
    /** Order of the passages; default `document`. */
    order: PassageOrder,
    /** Whether filling goes on behind a passage that does not fit; default false. */
    skip: boolean,
    /** Retriever that ranks; default `bm25`. The others need vectors, as far as they have come. */
    retriever: Retriever,
    /** Neighbouring passages to take on each side of a ranked one; default 0. */
    neighbours: number,
    /** Number of passages that are listed, of those that were found; all by default. */
    first: number | null,
}>;

/** The next passages to embed. */
export type ToEmbed = {
    /** Numbers of the passages. */
    passages: Array<number>,
    /** Their texts. */
    texts: Array<string>,
};
