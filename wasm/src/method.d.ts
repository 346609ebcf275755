/** A book for a method, with what is known of it. */
export interface MethodBook extends ReadOptions {
    file: BookFile;
    /** Its id in records; default `book`. */
    id?: string;
    /** Its title, which prompts show; default: an EPUB's own, else none. */
    title?: string;
}

/** What is asked: a line of `items.jsonl`. Without gold answers nothing is scored. */
export interface MethodItem {
    id: string;
    documents: string[];
    question: string;
    task: "generative" | "choice" | "summary";
    answers?: string[];
    options?: string[];
    correct?: number;
    evidence?: { document?: string; quote?: string; start?: number; end?: number }[];
    labels?: Record<string, string>;
}

/** How a method is run; what is left out has the command line's default. */
export interface MethodOptions {
    /** Such as `dos-rag`. */
    method: string;
    /** The method's own; what is left out keeps the paper's value. */
    parameters?: Record<string, unknown>;
    /** Most tokens of the passages, for methods that have a budget. */
    budget?: number;
    /** Default `bm25`; the others need `embed` of the host. */
    retriever?: "bm25" | "dense" | "hybrid";
    /** How many of the best passages `rerank` of the host puts into another order; default: none. */
    rerankFrom?: number;
    /** Who reads, as the record names it; default `builtin/extractive`. */
    model?: string;
    /** Default: as many as the provider lets a response have. */
    maxOutputTokens?: number;
    /** Default 0. */
    temperature?: number;
    /** Tokens the model can take, prompt and response together; default: no limit. */
    window?: number;
    /** Default `cl100k`. */
    tokenizer?: "cl100k" | "o200k";
}

/** What a method may ask of the world outside. */
export interface MethodHost {
    /** One chat completion; called before anything is sent. Rejections with the names of a ChatModel's errors become the outcomes they stand for. */
    chat(call: MethodCall): Promise<MethodResponse | string> | MethodResponse | string;
    /** One vector a text, L2-normalised, all of one length. */
    embed?(role: "query" | "passage", texts: string[]): Promise<Float32Array[]>;
    /** How well each text answers the query: one finite number a text, higher for a better one. */
    rerank?(query: string, texts: string[]): Promise<number[]> | number[];
    /** Told what was made of the books before the question, where the method makes something. */
    prepared?(preparation: MethodPreparation): void;
}

/** One request to a chat model, before it is sent. */
export interface MethodCall {
    /** Its number in the run, from 0, in the order in which calls were made. */
    id: number;
    stage: "preparation" | "question";
    /** Name of the prompt that the last message was made from. */
    prompt: string;
    messages: MethodMessage[];
    /** Of all messages, by the run's tokenizer. */
    tokens: number;
    /** Absent or null: no limit. */
    maxOutputTokens?: number | null;
    temperature: number;
    want: MethodWant;
    question: string;
    options: string[];
    /** What of the books the prompt holds, in its order. */
    passages: string[];
    /** The form that the response must have, as llama.cpp's GBNF; null where any text will do. */
    grammar?: string | null;
}

export interface MethodMessage {
    role: "system" | "user" | "assistant";
    content: string;
    tokens: number;
    /** UTF-16 code units at the beginning that other calls share. */
    sharedLength?: number;
}

/** What a call wants: an answer in a form, a search, a pause between pages, pages to read again. */
export type MethodWant =
    | { kind: "answer"; form: "marked" | "tags" | "lines" | "evidenced-lines" | "announced" | "lettered" | "boxed" }
    | { kind: "query" }
    | { kind: "break" }
    | { kind: "pages"; atMost: number };

export interface MethodResponse {
    text: string;
    usage?: MethodUsage;
    finish?: "stop" | "length";
}

/** Tokens as the provider counted them. */
export interface MethodUsage {
    prompt_tokens: number | null;
    completion_tokens: number | null;
    cached_tokens?: number;
    cache_write_tokens?: number;
    reasoning_tokens?: number;
}

/** What a response was understood as. */
export type Parsed =
    | ({ said: "answer" } & MethodOutcome)
    | { said: "query"; query: string }
    | { said: "blocks"; answers: number; queries: number }
    | { said: "break"; label: number | null }
    | { said: "pages"; pages: number[] }
    | { said: "memory" | "gist" | "summary"; text: string };

/** How a trial ended, as in `records.jsonl`. */
export type MethodOutcome =
    | { outcome: "answered"; answer: string; choice?: number }
    | { outcome: "not_found" | "unanswered" }
    | { outcome: "overflow"; needed: number | null; context_window: number | null }
    | { outcome: "blocked"; reason: string }
    | { outcome: "unparsed"; response: string }
    | { outcome: "cut_short"; response: string; max_output_tokens: number | null }
    | { outcome: "failed"; error: string }
    | { outcome: "not_asked"; reason: string };

/** A call that was made, as in `records.jsonl`. */
export interface MethodCallTrace {
    prompt: string;
    sha256: string;
    response: string;
    usage: MethodUsage;
}

/** A line of `records.jsonl`. */
export type MethodRecord = MethodOutcome & {
    item: string;
    method: string;
    model: string;
    budget: number | null;
    repeat: number;
    scores: Record<string, number>;
    prompt_tokens: number;
    context?: {
        retriever?: "bm25" | "dense" | "hybrid";
        n_tokens: number;
        passages: { document: string; start: number; end: number; score?: number }[];
    };
    calls: MethodCallTrace[];
    measures?: Record<string, number>;
    evidence?: string[];
    seconds: number;
};

/** What a method made of the books, as a run keeps it. */
export interface MethodPreparation {
    prepared: { Ok: MethodTree | MethodPages } | { Err: MethodOutcome };
    prompt_tokens: number;
    calls: MethodCallTrace[];
    measures?: Record<string, number>;
}

/** RAPTOR's: nodes are numbered through, leaves from 0, then layer by layer. */
export interface MethodTree {
    made: "raptor";
    leaves: { document: string; start: number; end: number; n_tokens: number }[];
    layers: { text: string; n_tokens: number; children: number[] }[][];
}

/** ReadAgent's. */
export interface MethodPages {
    made: "read-agent";
    pages: { book: number; start: number; end: number; words: number; gist: string }[];
}

/** A number that the model may decide. */
export interface Between {
    low: number;
    high: number;
}

/** A method as `closeread methods --json` prints it. */
export interface MethodOffer {
    name: string;
    paper: string;
    summary: string;
    /** Whether it searches the books for passages. */
    searches: boolean;
    parameters: Record<string, unknown>;
    costs: {
        budget: number | null;
        preparation: { calls: Between; prompt_tokens: Between };
        question: { calls: Between; prompt_tokens: Between };
    }[];
}

/** Sentences that stayed, went or came. */
export interface TextChange {
    kind: "kept" | "gone" | "new";
    text: string;
}

/** Bytes of a book's file as decoded to UTF-8. */
export interface MethodPlace {
    document: string;
    start: number;
    end: number;
}
