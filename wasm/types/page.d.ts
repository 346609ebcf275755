// Generated from the Rust types: UPDATE_EXPECT=1 and the test `typescript` write it anew.

/** The form of a gold answer. */
export type AnswerForm = "choice" | "number" | "percentage" | "date" | "list" | "text";

/**
 * A method with a model at a budget, as a run is asked for. With the task of its items it is a
 * `CellKey`.
 */
export type Arm = {
    /** Name of the method. */
    method: string,
    /** The model, `provider/model`. */
    model: string,
    /** Token budget of the retrieved context, where the method has one. */
    budget: number | null,
};

/** The scores of one question, as two records hold them. */
export type BothOrders = {
    /** Name of the book. */
    book: string,
    /** Scores of the answer from passages by score. */
    by_score: { [key in string]: number },
    /** Scores of the answer from passages in the book's order. */
    by_place: { [key in string]: number },
};

/** The rule's findings on an answer. */
export type ByRule = {
    /** The form of the gold answer. */
    form: AnswerForm,
    /** Whether the answer agrees to the letter of the form. */
    strict: boolean,
    /** Whether the answer agrees apart from notation: units, thousands, number words, order of lists, case, marks. */
    tolerant: boolean,
};

/** One call to a model, by hash. */
export type CallTrace = {
    /** Name of the prompt. */
    prompt: string,
    /** SHA-256 of the messages sent, in hex. */
    sha256: string,
    /** The response, as it came. */
    response: string,
    /** The reason why the response ended. */
    finish: FinishReason,
    /** Tokens of the prompt by the run's tokenizer. */
    counted_tokens: number,
    /** Tokens as the provider counted them. */
    usage: Usage,
    /** The model and its version, as the provider named them. */
    served_by?: ServedBy,
    /** Whether the response was known from an earlier run: nothing was spent on it now. */
    cached?: boolean,
};

/** The fate of a sentence. */
export type ChangeKind = "kept" | "gone" | "new";

/** What a chat model needs of a call. */
export type ChatCall = {
    /** The dialogue so far, oldest first. */
    messages: Array<ChatMessage>,
    /** Most tokens of the response; absent or null: as many as the provider lets it have. */
    maxOutputTokens?: null | number,
    /** Sampling temperature; default 0. */
    temperature?: number,
};

/** A message of a call. */
export type ChatMessage = {
    /** Speaker of the message. */
    role: Speaker,
    /** Words of the message. */
    content: string,
    /** UTF-16 code units at the beginning that other calls share. */
    sharedLength?: number,
};

/** The options of a chat model on a server. The key stays in WebAssembly's memory; nothing prints it. */
export type ChatModelOptions = {
    /** What the server speaks; local servers and most others speak `openai`. */
    protocol: "openai" | "anthropic" | "gemini",
    /** Name of the model with the provider. */
    model: string,
    /** Address of the server, up to and including /v1 for `openai`; default: the provider's own. */
    baseUrl?: string,
    /** The key, where the server wants one. */
    key?: string,
    /** Fields merged into each request, such as `{ "reasoning_effort": "low" }`. */
    extraBody?: Record<string, unknown>,
    /** Seed of the sampling. */
    seed?: number,
    /** What forwards requests to servers that do not let pages in: `closeread serve`. */
    relay?: Relay,
};

/** The response to a `Call`. */
export type ChatResponse = {
    /** The text of the answer, reasoning excluded. */
    text: string,
    /** Tokens as the provider counted them. */
    usage: Usage,
    /** The reason why the response ended. */
    finish: FinishReason,
    /** Model and version that answered, as the provider names them. */
    served_by?: ServedBy,
    /** Whether the response came from the host's memory of an earlier call: nobody was asked now, nothing was spent. */
    cached?: boolean,
};

/** The choice of what to compare. Two values name A's and B's; an empty list leaves nothing out. */
export type Choice = Partial<{
    /** Metrics; empty: all that both have. */
    metric: Array<string>,
    /** The method, or A's and B's. */
    method: Array<string>,
    /** The model, or A's and B's. */
    model: Array<string>,
    /** The token budget, or A's and B's. Of two methods, one without a budget is compared with the other at each. */
    budget: Array<number>,
    /** Labels to break down by; empty: every label with 2 to `MAX_LABEL_VALUES` values. */
    by: Array<string>,
}>;

/** Run B against run A on the same items. */
export type Comparison = {
    /** Number of items. */
    n: number,
    /** Different books; items that name none are together one. */
    clusters: number,
    /** Mean score of run A. */
    mean_a: number,
    /** Mean score of run B. */
    mean_b: number,
    /** Difference of the means, `mean_b` - `mean_a`. */
    difference: number,
    /** Lower end of the 95% interval of the difference. */
    low: number,
    /** Upper end of the interval. */
    high: number,
    /** Method of the interval: clustered by book, or, marked by another name, over items. */
    interval: IntervalMethod,
    /**
     * Standard error of the difference: clustered by book with the small-sample factor where the interval is, else
     * over items. `null` of one item.
     */
    standard_error: number | null,
    /** Two-sided p-value of `test`. */
    p_value: number,
    /** The test that applies to these scores. */
    test: TestName,
    /** McNemar's test, where all scores are 0 or 1. */
    mcnemar: McNemar | null,
    /** Two-sided p-value of the paired permutation test, signs flipped for whole books where there are at least five. */
    permutation_p: number,
    /** 95% percentile bootstrap of the difference, whole books drawn where there are at least five. */
    bootstrap: Ends,
    /** Items and books needed to find a difference of this size; `null` if there is none or all items differ alike. */
    needed: SampleSize | null,
};

/** The context: what a model was given of the books. */
export type Context = {
    /** Retriever that found the context; absent for a whole document. */
    retriever?: Retriever,
    /** Number of best passages that a reranker put in order; absent without one. Passages behind these have no score. */
    reranked?: number,
    /** Tokens of the passages, without separators and prompt. */
    n_tokens: number,
    /** The passages, in the order in which the reader saw them. */
    passages: Array<PassageRef>,
};

/** A range of numbers from `low` to `high`, both included; equal where the number is determined. */
export type CostRange = {
    /** The least that it can be. */
    low: number,
    /** The most that it can be. */
    high: number,
};

/** The ends of an interval. */
export type Ends = {
    /** Lower end of the interval. */
    low: number,
    /** Upper end of the interval. */
    high: number,
};

/** The error in a sentence (Table 12). */
export type ErrorCategory = "no_error" | "out_of_article" | "entity" | "relation" | "sentence";

/** Marks of the evidence judge (`C50R66S33`), each in 0..=100 (section 4.5, though the prompt says 1-100). */
export type EvidenceMarks = {
    /** Mark for correctness: is it the correct evidence, or of similar correct meaning? */
    correctness: number,
    /** Mark for relevance: is the evidence relevant to the answer? */
    relevance: number,
    /** Mark for sufficiency: does the evidence suffice to support the answer? */
    sufficiency: number,
};

/** The judge's ruling on a key fact. */
export type FactRuling = {
    /** Whether the summary states the fact. */
    stated: boolean,
    /**
     * Numbers of the sentences that state it, from 1, ascending, each once and within the summary; none if it is not
     * stated.
     */
    sentences?: Array<number>,
};

/** The reason why a response ended. */
export type FinishReason = "stop" | "length";

/** An item with two scores. */
export type Flip = {
    /** Id of the item. */
    id: string,
    /** Score of the item under A, in 0..=1. */
    a: number,
    /** Score of the item under B, in 0..=1. */
    b: number,
};

/**
 * The form of an answer: what a prompt asks for, a reader keeps to and a parser reads.
 *
 * Where options are to be chosen from, they are numbered from 1 in `Form::Marked`, as Stronger Baselines does, named by
 * letters in `Form::Lettered` and `Form::Boxed`, and numbered from 0 in all others, as NovelQA does; SagaScale and
 * CorpusQA have no choices.
 */
export type Form = "marked" | "first-marked" | "tags" | "tags-or-none" | "lines" | "evidenced-lines" | "announced" | "lettered" | "boxed" | "boxed-or-announced";

/** One line of `items.jsonl`: a question with its gold answer. */
export type Item = {
    /** Unique name. */
    id: string,
    /** Ids of the documents the question is about, in reading order. */
    documents: Array<string>,
    /** The question, or the query of a summary. */
    question: string,
    /** The kind of answer that is asked for. */
    task: Task,
    /** Acceptable answers, best first. */
    answers?: Array<string>,
    /** The options of a choice. */
    options?: Array<string>,
    /** Index of the correct option, from 0. */
    correct?: number,
    /** Passages that hold the answer. */
    evidence?: Array<Evidence>,
    /** HAMLET's key facts about one chunk. */
    key_facts?: KeyFacts,
    /** Labels, name and value, that reports break the scores down by, e.g. `complexity: multi-hop`. */
    labels?: { [key in string]: string },
};

/** A judge: what is decided, and by whose definition. */
export type Judge = "rule" | "judge-sagascale" | "judge-novelqa" | "judge-novelqa-evidence" | "judge-corpusqa" | "verify-facts" | "align-key-facts" | "classify-question";

/** One line of `judgements.jsonl`. */
export type Judgement = {
    /** The call that was made; none where a rule decided or the call failed. */
    calls?: Array<CallTrace>,
    /** Tokens of a prompt that the provider blocked, by our own count: it is charged, and its call has no response. */
    blocked_tokens?: number,
    /** Judge, which says what is decided. */
    judge: Judge,
    /** Model that decides: `provider/model` or `BUILTIN_RULE`. */
    judge_model: string,
    /** Number of the vote, from 0. */
    vote: number,
    /**
     * Setup of the question: sixteen hex digits over prompt, temperature and all else that can change a response; see
     * `Panel::setup`.
     */
    setup: string,
    /** Id of the item. */
    item: string,
    /** Trial of the item; absent where the question itself is judged. */
    trial?: TrialPlace,
} & ({ "state": "ruled",
    /** Ruling of the judge. */
    ruling: Ruling,
} | { "state": "unparsed" } | { "state": "overflow" } | { "state": "blocked",
    /** The provider's words on the refusal. */
    reason: string,
} | { "state": "failed",
    /** Message of the error. */
    error: string,
});

/** One node of a key-fact tree. */
export type KeyFact = {
    /** A sentence without pronouns, supported by the chunk. */
    fact: string,
    /** Facts that support this one. */
    children?: Array<KeyFact>,
};

/** The key-fact trees of one chunk (HAMLET, section 3): roots, branches, leaves. */
export type KeyFacts = {
    /** The document the chunk belongs to. */
    document: string,
    /** The main insights or sequences. */
    roots: Array<KeyFact>,
} & ({
    /** First byte of the chunk. */
    start: number,
    /** One past the last byte of the chunk. */
    end: number,
} | {
    /** The words the chunk begins with. */
    first: string,
    /** The words it ends with. */
    last: string,
});

/** A passage of a book, by reference. */
export type Leaf = {
    /** Id of the document. */
    document: string,
    /** First byte in the document's file as decoded to UTF-8. */
    start: number,
    /** End in bytes: one past the last byte. */
    end: number,
    /** Tokens of its text by the run's tokenizer. */
    n_tokens: number,
};

/** Items that only one of two runs got right. */
export type McNemar = {
    /** Number of items that are right under A alone. */
    only_a: number,
    /** Number of items that are right under B alone. */
    only_b: number,
    /** Exact two-sided p-value. */
    p: number,
};

/** One turn of a dialogue. */
export type Message = {
    /** Speaker of the message. */
    role: Speaker,
    /** Words of the message. */
    content: string,
};

/** One request to a chat model, before it is sent. */
export type MethodCall = {
    /** Number of the call in the run, from 0, in the order in which calls were made. */
    id: number,
    /** Stage of the method. */
    stage: Stage,
    /** Name of the prompt that the last message was made from. */
    prompt: string,
    /** The dialogue so far, oldest first. */
    messages: Array<MethodMessage>,
    /** Tokens of all messages, by the run's tokenizer. */
    tokens: number,
    /** Most tokens of the response; `null`: no limit. */
    maxOutputTokens: number | null,
    /** Sampling temperature. */
    temperature: number,
    /** What the call wants. */
    want: MethodWant,
    /** The question that is asked. */
    question: string,
    /** Options of a choice. */
    options: Array<string>,
    /** What of the books the prompt holds, in its order. */
    passages: Array<string>,
    /** The form that the response must have, as llama.cpp's GBNF; `null` where any text will do. */
    grammar: string | null,
};

/** One message of a call. */
export type MethodMessage = {
    /** Speaker of the message. */
    role: Speaker,
    /** Words of the message. */
    content: string,
    /** Tokens of the content. */
    tokens: number,
    /** UTF-16 code units at the beginning that other calls share. */
    sharedLength?: number,
};

/** A method as it is offered: what `closeread methods --json` prints. */
export type MethodOffer = {
    /** Name of the method. */
    name: string,
    /** Paper and section. */
    paper: string,
    /** What the model gets, in a line. */
    summary: string,
    /** Whether the method searches the books for passages. */
    searches: boolean,
    /** The paper's values of everything that can be set. */
    parameters: Record<string, unknown>,
    /** Costs of one question, once for each budget where the method takes one. */
    costs: Array<OfferedCost>,
};

/** The options by which a method is run. */
export type MethodOptions = {
    /** Name of the method, such as `dos-rag`. */
    method: string,
    /** Parameters of the method; what is left out keeps the paper's value. */
    parameters?: Record<string, unknown>,
    /** Most tokens of the passages, for methods that have a budget. */
    budget?: number,
    /** Retriever of the passages; default `bm25`. The others need `embed` of the host. */
    retriever?: Retriever,
    /** Number of best passages that `rerank` of the host puts into another order; default: none. */
    rerankFrom?: number,
    /** The reader, as the record names it; default `builtin/extractive`. */
    model?: string,
    /** Most tokens of a response; default: as many as the provider lets it have. */
    maxOutputTokens?: number,
    /** Sampling temperature; default 0. */
    temperature?: number,
    /** Tokens that the model can take, prompt and response together; default: no limit. */
    window?: number,
    /** Tokenizer that counts; default `cl100k`. */
    tokenizer?: TokenizerName,
};

/** What a call wants: an answer in a form, a search, a pause between pages, pages to read again. */
export type MethodWant = { "kind": "answer", form: Form, } | { "kind": "query" } | { "kind": "break" } | { "kind": "pages", atMost: number, };

/**
 * A metric: one of closeread's, or a score that a judge or a file of predictions gives under a name of its own.
 *
 * Metrics are equal if their names are, and ordered by `MetricName::RANK`.
 */
export type MetricName = string;

/** Calls and tokens of one question on a book. */
export type OfferedCost = {
    /** Most tokens that the passages may have; `null` for a method without budget. */
    budget: number | null,
    /** Cost of the preparation, made once for all questions and all budgets. */
    preparation: StageCost,
    /** Cost of each question. */
    question: StageCost,
};

/** The effect of two orders of the same passages on the answers. */
export type OrderEffect = {
    /** The questions that both answers have a score for; the second side is the book's order. Absent if there are none. */
    comparison: Comparison | null,
    /**
     * The side that is ahead, `a` by score, `b` in the book's order; absent where that cannot be told, see
     * `Comparison::ahead`.
     */
    ahead: Side | null,
    /** Scores of each question, in the order given: metric, by score, in the book's order, in 0..=1. */
    scored: Array<[MetricName, number, number] | null>,
};

/** The outcome of a trial. A wrong, missing or unparsable answer is a value, not an error: it is what gets scored. */
export type Outcome = { "outcome": "answered",
    /** Text of the answer; for a choice the text of the option. */
    answer: string,
    /** The option chosen, from 0. */
    choice?: number,
} | { "outcome": "not_found" } | { "outcome": "unanswered" } | { "outcome": "overflow",
    /** Tokens needed, response included; absent where only the provider counted. */
    needed: number | null,
    /** Tokens the window holds; absent where only the provider counted. */
    context_window: number | null,
} | { "outcome": "blocked",
    /** The provider's words on the refusal. */
    reason: string,
} | { "outcome": "unparsed",
    /** The response. */
    response: string,
} | { "outcome": "cut_short",
    /** The response, as far as it came. */
    response: string,
    /** Limit of the response in tokens; `null`: the provider's own. */
    max_output_tokens: number | null,
} | { "outcome": "failed",
    /** Message of the error. */
    error: string,
} | { "outcome": "not_asked",
    /** What the method answers instead. */
    reason: string,
};

/** A page and what is remembered of it. */
export type Page = {
    /** Number of the book, from 0. */
    book: number,
    /** First byte in the book's file as decoded to UTF-8. */
    start: number,
    /** End in bytes: one past the last byte. */
    end: number,
    /** Number of words of the page's text. */
    words: number,
    /** The page's text made short, white space at the ends removed; may be empty. */
    gist: string,
};

/** The pages of all books of an item, in their order. */
export type Pages = {
    /** The pages. No page has text of two books. */
    pages: Array<Page>,
};

/** The parsed content of a response. */
export type Parsed = { "said": "answer" } & Outcome | { "said": "query",
    /** The words searched for. */
    query: string,
} | { "said": "blocks",
    /** Number of answers that the turn gives. */
    answers: number,
    /** Number of queries that the turn gives. */
    queries: number,
} | { "said": "break",
    /** The label. */
    label: number | null,
} | { "said": "pages",
    /** Numbers of the pages. */
    pages: Array<number>,
} | { "said": "memory",
    /** The whole response. */
    text: string,
} | { "said": "gist",
    /** The whole response. */
    text: string,
} | { "said": "summary",
    /** The whole response. */
    text: string,
};

/** A passage by reference: the text lies once in `texts/`. */
export type PassageRef = {
    /** Id of the document. */
    document: string,
    /** First byte in the document's file as decoded to UTF-8. */
    start: number,
    /** End in bytes: one past the last byte. */
    end: number,
    /** Score under the retriever. */
    score?: number,
};

/** The work of a method on books before the first question, as a run keeps it. */
export type Preparation<P> = {
    /** The preparation; where a call failed, how every question on these books ends. */
    prepared: { Ok : P } | { Err : Outcome },
    /** Tokens of all its prompts together by the run's tokenizer. */
    prompt_tokens: number,
    /** The calls, in order. */
    calls: Array<CallTrace>,
    /** Numbers worth reporting, such as `nodes`. */
    measures?: { [key in string]: number },
};

/** The type of a question: what it asks for (figure 8). */
export type QuestionType = "Location" | "Character" | "Reason" | "Method" | "Event" | "Entity" | "Quantity" | "Temporal" | "Quotation" | "Miscellaneous";

/** The relay that forwards requests: `POST /relay` of `closeread serve`. */
export type Relay = {
    /** Address of the relay. */
    url: string,
    /** Token that the relay gave the page. */
    token: string,
};

/** A try that failed and is made again. */
export type Retrying = {
    /** What went wrong. */
    message: string,
    /** Number of tries so far. */
    tries: number,
    /** Number of tries that there are. */
    of: number,
    /** Seconds until the next. */
    wait: number,
};

/**
 * Whether an answer counts as right: its main metric is at least one half. A trial that failed is wrong; one that no metric
 * was computed for is neither.
 */
export type RightOrWrong = "right" | "wrong";

/** The ruling of a judge. */
export type Ruling = { "kind": "correctness",
    /** Whether the answer is correct. */
    correct: boolean,
} | { "kind": "rule" } & ByRule | { "kind": "evidence" } & EvidenceMarks | { "kind": "sentences",
    /** Rulings in the order of the summary's sentences. */
    sentences: Array<SentenceRuling | null>,
} | { "kind": "key_facts",
    /** Rulings in the order of `linearised`. */
    facts: Array<FactRuling | null>,
} | { "kind": "question_type",
    /** Type of the question. */
    question_type: QuestionType,
};

/** A run at a glance. */
export type RunFacts = {
    /** Name of the run. */
    name: string,
    /** Name of the benchmark. */
    benchmark: string,
    /** Number of items. */
    items: number,
    /** Lines of the list of trials: one for every trial that was asked for. */
    trials: number,
    /** Records of items that `items.jsonl` does not have. */
    recordsLeftOut: number,
    /** What the numbers rest on, name and value. */
    facts: Array<[string, string]>,
    /** Names of the cells. */
    cells: Array<string>,
    /** The arm of each cell. */
    arms: Array<Arm>,
    /** The outcomes there are, and `missing`. */
    outcomes: Array<string>,
    /** Metrics of the records, name and how it is shown. */
    metrics: Array<[string, string]>,
    /** Number of books whose text is at hand. */
    texts: number,
};

/**
 * The sample size that a comparison would need to find a difference of the observed size: 80% power, two-sided test at
 * 5%.
 */
export type SampleSize = {
    /** Items in all, those at hand included. */
    items: number,
    /** Books in all, each with as many items as now; `null` where items and not books were the sample. */
    clusters: number | null,
    /** The smallest difference that the items at hand would find with that power. */
    detectable: number,
};

/** The judge's ruling on a sentence. */
export type SentenceRuling = {
    /** Error of the sentence. */
    category: ErrorCategory,
    /** Reason that the judge gives; may be empty. */
    reason?: string,
};

/** The model and its version as a provider names them in a response; `null` where it says nothing. */
export type ServedBy = {
    /** The model, often with the date of its version: `model`, with Google `modelVersion`. */
    model?: string,
    /** Fingerprint of what else may change answers, such as the build of the server: `system_fingerprint`. */
    fingerprint?: string,
};

/** A chart with its drawing, whose title and description hold every number in words. */
export type ShownChart = {
    /** Id of the chart. */
    id: string,
    /** Title of the chart. */
    title: string,
    /** Note below the chart. */
    note: string,
    /** An `svg` element for a page with the rules of `chartStyle()`; names from data are escaped in it. */
    svg: string,
};

/** A comparison under one metric as people read it. */
export type ShownComparison = {
    /** Name of the metric. */
    metric: string,
    /** What can and cannot be concluded. */
    conclusion: string,
    /** The comparison as a table; `null` where no item was scored by both. */
    table: ShownTable | null,
    /** Items on which B scores more, the largest difference first. */
    gained: Array<Flip>,
    /** Items on which B scores less, in the same order. */
    lost: Array<Flip>,
    /** Notes for people. */
    notes: Array<string>,
    /** Items that are not compared. */
    unpaired: Unpaired,
};

/** A report as people read it. */
export type ShownReport = {
    /** Title of the report. */
    title: string,
    /** Whether no trial is missing. */
    complete: boolean,
    /** What a reader must know. */
    notes: Array<string>,
    /** Tables of the report. */
    tables: Array<ShownTable>,
    /** Charts of the report. */
    charts: Array<ShownChart>,
};

/** A table with its values as people read them. */
export type ShownTable = {
    /** Id of the table. */
    id: string,
    /** Title of the table. */
    title: string,
    /** The paper's table it follows; empty for closeread's own. */
    source: string,
    /** Heads of the columns. */
    columns: Array<string>,
    /** Values, row by row. */
    rows: Array<Array<ShownValue>>,
    /** Notes below the table. */
    notes: Array<string>,
};

/** A value as people read it. */
export type ShownValue = {
    /** Kind of the value. */
    kind: "text" | "number" | "missing",
    /** Text of the value; of a missing one the reason. */
    text: string,
};

/** One of the two runs that are compared. */
export type Side = "a" | "b";

/** The order of lines. */
export type Sort = "item" | "cell" | "lowest" | "highest";

/** The speaker of a `Message`. */
export type Speaker = "system" | "user" | "assistant";

/** The stage at which calls are made. */
export type Stage = "preparation" | "question";

/** Calls of one stage. */
export type StageCost = {
    /** Number of calls. */
    calls: CostRange,
    /** Tokens of all their prompts together. */
    prompt_tokens: CostRange,
};

/** A node that is no leaf. */
export type Summary = {
    /** Summary of the node's children that the model wrote. */
    text: string,
    /** Tokens of `text` by the run's tokenizer. */
    n_tokens: number,
    /** Numbers of the nodes below, ascending. */
    children: Array<number>,
    /** Embedding of `text`; empty where nodes are ranked by their words alone. */
    vector?: Array<number>,
};

/** The kind of answer that an item asks for. */
export type Task = "generative" | "choice" | "summary";

/** A test of whether two runs differ. */
export type TestName = "clustered_t" | "mcnemar_exact" | "permutation";

/** Sentences one after the other that had the same fate. */
export type TextChange = {
    /** Fate of the sentences. */
    kind: ChangeKind,
    /** The sentences, with the white space that stands between them. */
    text: string,
};

/** A passage by its place, with its text where the book is at hand. */
export type TracedPassage = {
    /** Text of the passage; absent where the book is not at hand. */
    text?: string,
    /** Length of the book in bytes; absent where it is not at hand. */
    book_bytes?: number,
    /** Id of the document. */
    document: string,
    /** First byte in the document's file as decoded to UTF-8. */
    start: number,
    /** End in bytes: one past the last byte. */
    end: number,
    /** Score under the retriever. */
    score?: number,
};

/**
 * A tree over books. Nodes are numbered through: the leaves in document order from 0, then layer by layer.
 *
 * Clusters are soft, so a node can have several parents; the last layer, or the leaves where there is no other, are the
 * roots.
 */
export type Tree = {
    /** The passages, in document order. */
    leaves: Array<Leaf>,
    /** The summaries, lowest layer first; no layer is empty. */
    layers: Array<Array<Summary>>,
};

/** The choice of lines to show; a field that is left out leaves no line out. */
export type TrialFilter = Partial<{
    /** Only trials with this outcome: its name in JSON or `MISSING`. */
    outcome?: string,
    /** Only trials of this cell, by its number in `TrialList::cells`. */
    cell?: number,
    /** Words that items or answers must have, in any case: id, question, gold answer, answer. */
    text: string,
    /** Only trials of the item of this id. */
    item?: string,
    /** Only trials that were right, wrong, or answered otherwise by another cell of the same budget. */
    verdict?: Wanted,
    /** The order of the lines. */
    sort: Sort,
}>;

/** A line of the list. */
export type TrialLine = {
    /** Id of the item. */
    item: string,
    /** The beginning of its question. */
    question: string,
    /** Number of the cell in `TrialList::cells`. */
    cell: number,
    /** Number of the repetition, from 0. */
    repeat: number,
    /** Outcome of the trial: its name in JSON or `MISSING`. */
    outcome: string,
    /** The beginning of the answer, or of what stands in its place. */
    said: string,
    /** Score by metric, in 0..=1. */
    scores: { [key in string]: number },
    /** Whether the answer counts as right; absent where nothing says so. */
    verdict: RightOrWrong | null,
};

/** The key of a trial of an item. */
export type TrialPlace = {
    /** Name of the method. */
    method: string,
    /** The model, `provider/model`. */
    model: string,
    /** Token budget of the retrieved context, where the method has one. */
    budget: number | null,
    /** Number of the repetition, from 0. */
    repeat: number,
};

/** One finished trial: one line of `records.jsonl`. */
export type TrialRecord = {
    /** Score by metric, in 0..=1; empty if nothing could be scored. */
    scores: { [key in string]: number },
    /** Tokens of the prompt by the run's tokenizer. */
    prompt_tokens: number,
    /** Context that the model was given; absent for a closed book. */
    context?: Context,
    /** The calls that were made, in order. */
    calls: Array<CallTrace>,
    /** Numbers worth reporting that no score holds, such as `SEARCHES`; see the method's documentation. */
    measures?: { [key in string]: number },
    /** Sentences of the books that the reader cited; absent where it was not asked for them. */
    evidence?: Array<string>,
    /**
     * Id of the item whose record, otherwise of the same key, holds the call that asked this one as well: `calls` is
     * empty here, and tokens and seconds are 0, so that nothing counts twice.
     */
    shared_call?: string,
    /** Wall time of the trial, waiting included. */
    seconds: number,
    /** Id of the item. */
    item: string,
    /** Name of the method. */
    method: string,
    /** The model, `provider/model`. */
    model: string,
    /** Token budget of the retrieved context, where the method has one. */
    budget: number | null,
    /** Number of the repetition, from 0. */
    repeat: number,
} & ({ "outcome": "answered",
    /** Text of the answer; for a choice the text of the option. */
    answer: string,
    /** The option chosen, from 0. */
    choice?: number,
} | { "outcome": "not_found" } | { "outcome": "unanswered" } | { "outcome": "overflow",
    /** Tokens needed, response included; absent where only the provider counted. */
    needed: number | null,
    /** Tokens the window holds; absent where only the provider counted. */
    context_window: number | null,
} | { "outcome": "blocked",
    /** The provider's words on the refusal. */
    reason: string,
} | { "outcome": "unparsed",
    /** The response. */
    response: string,
} | { "outcome": "cut_short",
    /** The response, as far as it came. */
    response: string,
    /** Limit of the response in tokens; `null`: the provider's own. */
    max_output_tokens: number | null,
} | { "outcome": "failed",
    /** Message of the error. */
    error: string,
} | { "outcome": "not_asked",
    /** What the method answers instead. */
    reason: string,
});

/** The whole trace of a trial: record and judgements. */
export type TrialTrace = {
    /** The item with its gold. */
    item: Item,
    /** Name of the cell. */
    cell: string,
    /** Record of the trial; absent if it is missing. */
    record: TrialRecord | null,
    /** Judgements of the trial, and of the question. */
    judgements: Array<Judgement>,
};

/** Ids of the items that are not compared, in alphabetical order. */
export type Unpaired = {
    /** Items that only A has. */
    only_a: Array<string>,
    /** Items that only B has. */
    only_b: Array<string>,
    /** Ids of items that both have, but with another question or gold answer: not the same item. */
    other_gold: Array<string>,
    /** Items that A has no score of: this metric does not apply, or no judge gave a verdict. */
    unscored_a: Array<string>,
    /** Items that B has no score of. */
    unscored_b: Array<string>,
};

/** Tokens of one call, as the provider counted them; `null` where the provider said nothing. */
export type Usage = {
    /** Tokens of the prompt, cached ones included. */
    prompt_tokens: number | null,
    /** Tokens of the response, reasoning included. */
    completion_tokens: number | null,
    /** Tokens of the prompt that the provider read from its cache. */
    cached_tokens?: number,
    /** Tokens of the prompt that the provider wrote to its cache. */
    cache_write_tokens?: number,
    /** Tokens of the response that were reasoning and are not shown. */
    reasoning_tokens?: number,
    /** Whether the call went through the provider's batch API, which has prices of its own. */
    batch?: boolean,
    /** Whether closeread counted some of the tokens: the provider named none, or a number that cannot be. */
    own_count?: boolean,
    /** Tokens of the prompt as the provider counted them, with `own_count`; believable or not. */
    told_prompt_tokens?: number,
};

/** The verdicts that a filter wants. */
export type Wanted = "right" | "wrong" | "differ";
