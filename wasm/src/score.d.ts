/** A file as it was read, with its name for messages. */
export interface NamedFile {
    name: string;
    content: Uint8Array | string;
}

/** A metric that predictions can be scored by. */
export type MetricName =
    | "accuracy" | "exact_match" | "f1" | "f1_v2" | "infinitebench_en_f1" | "infinitebench_zh_f1"
    | "rouge1" | "rouge2" | "rougeL" | "rougeLsum" | "bleu_1" | "bleu_2" | "bleu_3" | "bleu_4"
    | "meteor" | "evidence_recall" | "pair_accuracy";

/** How predictions are scored; what is left out has the command line's default. */
export interface ScoreOptions {
    /** The main one first; default: by format or task. */
    metrics?: MetricName[];
    /** Labels to break scores down by; also `task` and `document`. */
    by?: string[];
    /** What counts as a word of Chinese text; default `reference`. */
    chinese?: "reference" | "characters";
    /** Task of a published format that has several. */
    task?: string;
    /** System, where published files hold several. */
    system?: string;
}

/** What METEOR needs: files that a page fetches when it is asked for. */
export interface Assets {
    /** `wordnet-3.0.bin`. */
    wordnet?: Uint8Array;
    /** `punkt-en.txt`; the page's module has its own. */
    punkt?: Uint8Array;
}

/** A score in 0..1 with its 95% interval. */
export interface Estimate {
    value: number;
    low: number;
    high: number;
    /** Items (for pairs: pairs) it is taken over. */
    n: number;
    /** How the interval was made, such as `clustered_by_book`. */
    interval: string;
}

/** How many trials ended in which way; the parts add up to `trials`. */
export interface Ledger {
    trials: number;
    answered: number;
    not_found: number;
    unanswered: number;
    unparsed: number;
    overflow: number;
    cut_short: number;
    blocked: number;
    failed: number;
    missing: number;
    no_gold: number;
    not_asked: number;
}

/** A row that could not be used. */
export interface RowProblem {
    file: string;
    /** From 1. */
    line: number | null;
    item: string | null;
    message: string;
    dropped: boolean;
}

/** What `closeread score --json` prints; docs/scoring.md says what the fields mean. */
export interface Scorecard {
    n: number;
    complete: boolean;
    ledger: Ledger & {
        problems: { duplicate_ids: RowProblem[]; unknown_ids: RowProblem[]; malformed_rows: RowProblem[] };
    };
    main?: string;
    policy: "failures_wrong";
    metrics: Record<string, Estimate>;
    policies: { failures_left_out: { n: number; metrics: Record<string, Estimate> } };
    chinese: "reference" | "chinese_characters";
    by: Record<string, Record<string, { n: number; ledger: Ledger; metrics: Record<string, Estimate> }>>;
    items: {
        id: string;
        /** The ledger's field that counts it. */
        outcome: string;
        documents: string[];
        labels?: Record<string, string>;
        /** Names question and gold answer. */
        gold: string;
        scores: Record<string, number>;
    }[];
    notes: string[];
}
