/** A run at a glance. */
export interface RunFacts {
    name: string;
    benchmark: string;
    items: number;
    /** Lines of the list of trials: one for every trial that was asked for. */
    trials: number;
    /** Records of items that `items.jsonl` does not have. */
    recordsLeftOut: number;
    /** What the numbers rest on, name and value. */
    facts: [string, string][];
    cells: string[];
    /** What each cell is. */
    arms: { method: string; model: string; budget: number | null }[];
    /** The outcomes there are, and `missing`. */
    outcomes: string[];
    /** Metrics of the records, name and how it is shown. */
    metrics: [string, string][];
    /** Books whose text is at hand. */
    texts: number;
}

/** A value as people read it; of a `missing` one `text` is the reason. */
export interface ShownValue {
    kind: "text" | "number" | "missing";
    text: string;
}

export interface ShownTable {
    id: string;
    title: string;
    /** The paper's table it follows; empty for closeread's own. */
    source: string;
    columns: string[];
    rows: ShownValue[][];
    notes: string[];
}

/** A chart with its drawing, whose title and description hold every number in words. */
export interface ShownChart {
    id: string;
    title: string;
    note: string;
    /** An `svg` element for a page with the rules of `chartStyle()`; names from data are escaped in it. */
    svg: string;
}

export interface ShownReport {
    title: string;
    complete: boolean;
    notes: string[];
    tables: ShownTable[];
    charts: ShownChart[];
}

/** Which trials to list; what is left out leaves nothing out. */
export interface TrialFilter {
    outcome?: string;
    /** Number in `RunFacts.cells`. */
    cell?: number;
    /** Words of the id, the question, a gold answer or the answer, in any case. */
    text?: string;
    /** Only the item of this id. */
    item?: string;
    /** Right and wrong by the main metric; `differ`: items that cells of one budget answered rightly and wrongly. */
    verdict?: "right" | "wrong" | "differ";
    /** By item, by cell, or by the main metric. */
    sort?: "item" | "cell" | "lowest" | "highest";
}

export interface TrialLine {
    item: string;
    question: string;
    cell: number;
    repeat: number;
    outcome: string;
    said: string;
    scores: Record<string, number>;
    verdict: "right" | "wrong" | null;
}

export interface TracedCall {
    prompt: string;
    sha256: string;
    response: string;
    finish: "stop" | "length";
    counted_tokens: number;
    served_by?: { model?: string; fingerprint?: string };
    usage: Record<string, number | null>;
    cached?: boolean;
}

/** The item as in `items.jsonl`, the record as in `records.jsonl`, lines of `judgements.jsonl`. */
export interface TrialTrace {
    item: {
        id: string; documents: string[]; question: string; task: string; answers?: string[]; options?: string[];
        correct?: number; evidence?: { document?: string; quote?: string; start?: number; end?: number }[];
        labels?: Record<string, string>;
    };
    cell: string;
    record: null | {
        method: string; model: string; budget: number | null; repeat: number; outcome: string; answer?: string;
        choice?: number; reason?: string; response?: string; error?: string; needed?: number | null; context_window?: number | null;
        scores: Record<string, number>; prompt_tokens: number; calls: TracedCall[]; measures?: Record<string, number>;
        evidence?: string[]; shared_call?: string; seconds: number;
        context?: { retriever?: string; n_tokens: number };
    };
    judgements: {
        judge: string; judge_model: string; vote: number; verdict?: string; reason?: string; error?: string;
        calls?: TracedCall[]; [field: string]: unknown;
    }[];
}

export interface TracedPassage {
    document: string;
    start: number;
    end: number;
    score?: number;
    /** Absent where the book is not at hand, as is its length. */
    text?: string;
    book_bytes?: number;
}

/** A turn of a dialogue. */
export interface SentMessage {
    role: "system" | "user" | "assistant";
    content: string;
}
