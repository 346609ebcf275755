/** What to compare, as the options of `closeread compare`; two values name A's and B's. */
export interface CompareOptions {
    metric?: string[];
    method?: string[];
    model?: string[];
    budget?: number[];
    by?: string[];
    /** What the runs are called where both have one name; default: the name. */
    paths?: [string, string];
}

/** An item with two scores, in 0..=1. */
export interface ComparedItem {
    id: string;
    a: number;
    b: number;
}

export interface ShownComparison {
    metric: string;
    /** What can and cannot be concluded. */
    conclusion: string;
    /** Absent where no item was scored by both. */
    table?: ShownTable | null;
    /** Items on which B scores more, the largest difference first. */
    gained: ComparedItem[];
    lost: ComparedItem[];
    notes: string[];
    unpaired: Record<"only_a" | "only_b" | "other_gold" | "unscored_a" | "unscored_b", string[]>;
}
