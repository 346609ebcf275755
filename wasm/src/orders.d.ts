/** A question that was answered from the same passages in two orders, with the scores of both records. */
export interface BothOrders {
    book: string;
    by_score: Record<string, number>;
    by_place: Record<string, number>;
}

/** A paired difference, as `closeread compare --json` has it; scores and differences are in 0..=1. */
export interface PairedDifference {
    n: number;
    clusters: number;
    mean_a: number;
    mean_b: number;
    /** `mean_b` - `mean_a`. */
    difference: number;
    /** Its 95% interval. */
    low: number;
    high: number;
    p_value: number;
    /** Right on one side alone, where all scores are 0 or 1. */
    mcnemar: { only_a: number; only_b: number; p: number } | null;
    /** What it takes to find a difference of this size in four of five samples; absent if there is none. */
    needed: { items: number; clusters: number | null; detectable: number } | null;
}

/** What the order did: `a` is by score, `b` in the book's order. */
export interface OrderEffect {
    /** Absent if no question has a score on both sides. */
    comparison: PairedDifference | null;
    /** The side that is ahead; null where that cannot be told, as with fewer questions than are needed. */
    ahead: "a" | "b" | null;
    /** Metric, by score, in the book's order; null for a question without scores. */
    scored: ([string, number, number] | null)[];
}
