// Generated from the Rust types: UPDATE_EXPECT=1 and the test `typescript` write it anew.

/** How a trial ended, without its words, and the ways to have none. */
export type Ending = "answered" | "not_found" | "unanswered" | "unparsed" | "overflow" | "cut_short" | "blocked" | "failed" | "missing" | "no_gold" | "not_asked";

/** A mean with its 95% interval. */
export type Estimate = {
    /** The mean, in 0..=1. */
    value: number,
    /** Lower end of the interval. */
    low: number,
    /** Upper end of the interval. */
    high: number,
    /** Items the mean is taken over. */
    n: number,
    /** Method by which the interval was made. */
    interval: IntervalMethod,
};

/** What counts for trials in which the model never got to answer (`Ending::is_failure`), missing ones included. */
export type FailurePolicy = "failures_wrong" | "failures_left_out";

/** The items that share a label's value. */
export type Group = {
    /** Number of items. */
    n: number,
    /** Ledger of the items. */
    ledger: Ledger,
    /** Score by metric, failures counted as in the whole. */
    metrics: { [key in string]: Estimate },
};

/** The method by which an interval was made. */
export type IntervalMethod = "clustered_by_book" | "wilson" | "bootstrap_over_items" | "bootstrap_by_book" | "agresti_min";

/** Counts of how trials ended; the parts add up to `trials`. */
export type Ledger = { trials: number, } & Record<Ending, number>;

/** A metric that predictions can be scored by; its name is what users write and what JSON carries. */
export type Metric = "accuracy" | "exact_match" | "f1" | "f1_v2" | "infinitebench_en_f1" | "infinitebench_zh_f1" | "rouge1" | "rouge2" | "rougeL" | "rougeLsum" | "bleu_1" | "bleu_2" | "bleu_3" | "bleu_4" | "meteor" | "evidence_recall" | "pair_accuracy";

/** Scores under one policy. */
export type PolicyScores = {
    /** Items that the policy counts and that have something to be scored against. */
    n: number,
    /** Score by metric; each has an `n` of its own. */
    metrics: { [key in string]: Estimate },
};

/** One row or field that could not be used. */
export type Problem = {
    /** File as named by the user. */
    file: string,
    /** Line, from 1, where the format has lines. */
    line: number | null,
    /** Item or document, where known. */
    item: string | null,
    /** Message of the problem: what is wrong, what was expected, what to do. */
    message: string,
    /** True if a row was left out because of it; false if it is used with the stated repair. */
    dropped: boolean,
    /** Number of problems that this one stands for and that are not listed themselves; 0 for one of its own. */
    more?: number,
};

/** Rows that could not be used, by what was wrong; each names file, line and item where they are known. */
export type Problems = {
    /** Further rows for an item that already has one; the first row counts. */
    duplicate_ids: Array<Problem>,
    /** Rows for items that the gold file does not have. */
    unknown_ids: Array<Problem>,
    /** Rows that are no prediction at all. */
    malformed_rows: Array<Problem>,
};

/** The options by which predictions are scored. */
export type ScoreOptions = Partial<{
    /** Metrics, the main one first; default: by format or task. */
    metrics: Array<Metric>,
    /** Labels to break scores down by; also `task` and `document`. */
    by: Array<string>,
    /** What counts as a word of Chinese or Japanese text; default `reference`. */
    chinese: "reference" | "characters",
    /** Task of a published format that has several. */
    task: string | null,
    /** System, where published files hold several. */
    system: string | null,
}>;

/**
 * The scores of a submission, with everything they rest on and everything they leave out.
 *
 * The same submission gives the same bytes on every platform. Scores and intervals are in 0..=1.
 */
export type Scorecard = {
    /** Items of the gold file. */
    n: number,
    /** True if no item is missing, and no log was cut off: only then is this the score of a whole run. */
    complete: boolean,
    /** Ledger: how the items ended, and the rows that could not be used. */
    ledger: ScoredLedger,
    /**
     * The metric that ranks: the first that was asked for, that the format's own scorer leads with, or by
     * `MetricName::RANK`; absent where nothing could be scored.
     */
    main?: string,
    /** Failure policy of `metrics` and `by`. */
    policy: FailurePolicy,
    /** Score by metric under `policy`. */
    metrics: { [key in string]: Estimate },
    /** Scores under every other policy. */
    policies: { [key in FailurePolicy]?: PolicyScores },
    /** Way in which the text metrics cut Chinese. */
    chinese: Words,
    /** Label, its value, the items that have it. */
    by: { [key in string]: { [key in string]: Group } },
    /** Scores of every item, in the order of the gold file. */
    items: Array<ScoredItem>,
    /** Notes that a reader must know: rows used with a repair, metrics that apply to nothing. */
    notes: Array<string>,
};

/** The scores of one item. */
export type ScoredItem = {
    /** Id of the item. */
    id: string,
    /** Outcome of the item: the field of the ledger that counts it. */
    outcome: string,
    /** The documents it is about: what intervals cluster by. */
    documents: Array<string>,
    /** Labels of the item. */
    labels?: { [key in string]: string },
    /** Names question and gold answer: two runs are compared on items that agree in it. */
    gold: string,
    /**
     * Score by metric, 0 where there is no answer. BLEU is that of the item alone, and a pair's score stands at the
     * first item of the pair.
     */
    scores: { [key in string]: number },
};

/** A ledger whose counts add up to the items, and the rows that stand in none of them. */
export type ScoredLedger = {
    /** Rows that could not be used. */
    problems: Problems, trials: number,
} & Record<Ending, number>;

/**
 * The way in which a metric finds words.
 *
 * The reference implementations were written for English. In Chinese text rouge_score finds no words at all, and
 * SQuAD's and BLEU's scripts take what stands between two spaces or ASCII marks, mostly a whole sentence, as one, so
 * that a right answer with one more character scores 0.
 */
export type Words = "reference" | "chinese_characters";
