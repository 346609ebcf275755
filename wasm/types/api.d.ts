// Generated: UPDATE_EXPECT=1 and the tests of the page write it anew.

/**
 * A chat model on a server.
 */
export class ChatModel {
    /**
     * Asks for one completion. Faults that may pass are tried again, by the rules of the command line; `retrying`
     * hears of each. With `so_far` the response is streamed, where the server can: it hears all of the text that has
     * come.
     *
     * # Errors
     * An `OverflowError` (with `needed` and `window`), a `BlockedError`, a `CallError`, or an `AbortError` once
     * `signal` is aborted. No message holds the key.
     */
    chat(call: ChatCall, signal?: AbortSignal | null, retrying?: (retrying: Retrying) => void | null, so_far?: (text: string) => void | null): Promise<ChatResponse>;
    /**
     * Sends nothing yet.
     *
     * # Errors
     * An unknown protocol, no model, a key that cannot stand in a header.
     */
    constructor(options: ChatModelOptions);
}

/**
 * Books, cut and indexed once, for many questions. Offsets are bytes of a file as decoded to UTF-8.
 */
export class Index {
    /**
     * Reads, cuts and indexes a file, behind the books that are there, which are not cut again. BM25 is ready when this returns; vectors and
     * evidence start anew.
     *
     * # Errors
     * A name that is taken, a file that is no text, an empty book or an unknown option.
     */
    add(name: string, file: BookFile, options?: ReadOptions | null): BookFacts;
    /**
     * Returns what is known of a book, by its number from 0.
     *
     * # Errors
     * There is no such book.
     */
    book(number: number): BookFacts;
    /**
     * Returns where the chapters of a book begin and what they are called, as far as their headings tell.
     *
     * # Errors
     * There is no such book.
     */
    chapters(book: number): Chapter[];
    /**
     * Makes room for vectors of this many numbers, computed by `model`, whatever names its weights. Vectors of another
     * model or dimension that were there are gone.
     *
     * # Errors
     * A dimension of 0.
     */
    expectVectors(dimension: number, model?: string | null): void;
    /**
     * Says that nobody embeds these passages any more.
     *
     * # Errors
     * No vectors are expected.
     */
    giveBack(passages: Uint32Array | number[]): void;
    /**
     * An index without books.
     *
     * # Errors
     * An unknown option, or an asset that was not provided.
     */
    constructor(options?: CutOptions | null);
    /**
     * The next passages to embed, at most `n`: by BM25 for the question, nearest first, then the rest of the books. They
     * count as under way until their vectors come or they are given back.
     *
     * # Errors
     * No vectors are expected.
     */
    nextToEmbed(question: string, n: number): ToEmbed;
    /**
     * The number of the passage at a byte of a book, or of the one behind it; of the last where there is none.
     *
     * # Errors
     * There is no such book.
     */
    passageAt(book: number, byte: number): number;
    /**
     * Returns every passage, in document order: for one book what `closeread chunk FILE --json` prints.
     *
     * # Errors
     * None; the type is that of a conversion.
     */
    passages(): Listing;
    /**
     * Returns where a passage stands.
     *
     * # Errors
     * There is no such passage.
     */
    place(passage: number): Place;
    /**
     * Takes the vector of a question; one question's is kept.
     *
     * # Errors
     * No vectors are expected, or the vector has another dimension or a number that is not finite.
     */
    putQueryVector(question: string, vector: Float32Array | number[]): void;
    /**
     * Takes the vectors of passages, one after another; a passage that has one keeps it.
     *
     * # Errors
     * No vectors are expected, there is no such passage, or the numbers are not those of so many vectors, or not finite.
     */
    putVectors(passages: Uint32Array | number[], values: Float32Array | number[]): void;
    /**
     * Returns the scores of the ranking by the evidence, as `closeread retrieve` scores it: at each `k`, and the
     * precision within the budget; `null` where no evidence is known.
     *
     * # Errors
     * As [`Index::search`].
     */
    rankingScores(question: string, ks: Uint32Array | number[], options?: SearchOptions | null): RankingScores | null;
    /**
     * Returns what several budgets find, in their order: passages, the separate places that they make up, recall of
     * the evidence.
     *
     * # Errors
     * As [`Index::search`].
     */
    recallCurve(question: string, budgets: Uint32Array | number[], options?: SearchOptions | null): RecallAt[];
    /**
     * As [`Index::search`] without the texts, with the book of each passage and the recall of the evidence.
     *
     * # Errors
     * As [`Index::search`].
     */
    retrieve(question: string, options?: SearchOptions | null): Retrieved;
    /**
     * As [`Index::search`], byte for byte as the command line prints it, without its line end.
     *
     * # Errors
     * As [`Index::search`].
     */
    searchJson(question: string, options?: SearchOptions | null): string;
    /**
     * Returns what is found within a budget: for one book what `closeread search FILE QUESTION --json` prints.
     *
     * # Errors
     * An unknown option, or a retriever that needs vectors where none are coming.
     */
    search(question: string, options?: SearchOptions | null): Found;
    /**
     * Says where the gold evidence of a question stands; it is looked for as in a run.
     *
     * # Errors
     * Something else than evidence.
     */
    setEvidence(evidence: Evidence[]): FoundEvidence;
    /**
     * The text of a book from byte `start` to byte `end`, widened to whole characters and cut to the book.
     *
     * # Errors
     * There is no such book.
     */
    slice(book: number, start: number, end: number): string;
    /**
     * The texts of passages, as a model would see them.
     *
     * # Errors
     * There is no such passage.
     */
    texts(passages: Uint32Array | number[]): string[];
    /**
     * The UTF-16 units before a byte of a book: where JavaScript counts it.
     *
     * # Errors
     * There is no such book.
     */
    toUtf16(book: number, byte: number): number;
    /**
     * The vectors that have come, for [`Index::put_vectors`] in another session under the same key.
     *
     * # Errors
     * No vectors are expected.
     */
    vectors(): PassageVectors;
    /**
     * Names texts, chunker and tokenizer: vectors that were kept under another key are not those of these passages.
     */
    readonly contentKey: string;
    /**
     * Returns the number of passages of all books.
     */
    readonly nPassages: number;
    /**
     * Returns how many passages have vectors.
     */
    readonly nVectors: number;
}

/**
 * One question, asked by one method.
 */
export class MethodRun {
    /**
     * Returns where the gold evidence stands; nothing where the item has none.
     *
     * # Errors
     * None that depends on what is given.
     */
    evidence(): PassageRef[];
    /**
     * Returns what `builtin/extractive` responds to a call of this run.
     *
     * # Errors
     * A number that no call has.
     */
    extractive(call: number): string;
    /**
     * Reads the books and looks the options over; nothing is asked yet.
     *
     * # Errors
     * A file that is no text, an unknown method or parameter, an item about other books, an asset that was not
     * provided.
     */
    constructor(books: MethodBook[], item: Item, options: MethodOptions);
    /**
     * Returns what a response to a call of this run is understood as.
     *
     * # Errors
     * A number that no call has.
     */
    parsed(call: number, response: string): Parsed;
    /**
     * Returns where the passages that a call's prompt holds stand in the books; those that no book holds word for word
     * are left out.
     *
     * # Errors
     * A number that no call has.
     */
    places(call: number): PassageRef[];
    /**
     * Runs the method to its end; every call goes to `host.chat` first. The record is the line that `closeread run` writes
     * for the same item, method and responses, but for the seconds.
     *
     * # Errors
     * None of what goes wrong with a call, which is an outcome; only what keeps the method from running at all.
     */
    run(host: MethodHost): Promise<TrialRecord>;
    /**
     * Returns what stands in a book between two bytes of its file as decoded to UTF-8.
     *
     * # Errors
     * Another book, or offsets that are not in it.
     */
    slice(document: string, start: number, end: number): string;
}

/**
 * A run folder whose files are at hand.
 */
export class OpenRun {
    /**
     * Returns what is known of the run at a glance.
     *
     * # Errors
     * None; the type is that of a conversion.
     */
    facts(): RunFacts;
    /**
     * The lines of some trials by their numbers; numbers behind the last are skipped.
     *
     * # Errors
     * None; the type is that of a conversion.
     */
    lines(numbers: Uint32Array | number[]): TrialLine[];
    /**
     * Reads the files of a run folder, each named by its path there. `manifest.json`, `items.jsonl` and `records.jsonl`
     * must be among them; `judging.json`, `judgements.jsonl`, `prices.json`, `preparations/` and `texts/` may be.
     *
     * Lengths and positions are counted where `texts/` is there and the run's vocabulary was [provided](crate::provide).
     *
     * # Errors
     * A file that is missing, or is not what `closeread run` writes; file and line are named.
     */
    constructor(name: string, files: NamedFile[]);
    /**
     * The passages that the reader of a trial was given, in its order, with their text where the book is at hand.
     *
     * # Errors
     * A number behind the last.
     */
    passages(number: number): TracedPassage[];
    /**
     * The report as data: what `closeread report RUN --json` prints, byte for byte, without its line end.
     *
     * # Errors
     * None; the type is that of a conversion.
     */
    reportJson(): string;
    /**
     * The numbers of the trials that a filter leaves, in the order of the list.
     *
     * # Errors
     * An unknown field of the filter.
     */
    select(filter?: TrialFilter | null): Uint32Array;
    /**
     * The messages of each call of a trial, computed again and held to the hashes of its record.
     *
     * # Errors
     * A number behind the last, a trial without record, or what keeps the messages from being computed: a book that is not
     * at hand, passages ranked by vectors, other prompts.
     */
    sent(number: number): Message[][];
    /**
     * Returns the report with its tables as people read them and its charts drawn.
     *
     * # Errors
     * None; the type is that of a conversion.
     */
    shownReport(): ShownReport;
    /**
     * All that is known of a trial: the item, the record, what judges said.
     *
     * # Errors
     * A number behind the last.
     */
    trace(number: number): TrialTrace;
}

/**
 * Returns what a text became: its sentences that stayed, went and came, as a memory shows them. `language` is an ISO
 * 639-1 code.
 *
 * # Errors
 * An asset that was not provided.
 */
export function changes(before: string, after: string, language: string): TextChange[];

/**
 * The style rules that drawn charts need.
 */
export function chartStyle(): string;

/**
 * Cuts a book into passages: what `closeread chunk FILE --json` prints.
 *
 * # Errors
 * A file that is no text, an empty book, an unknown option, an asset that was not provided.
 */
export function chunk(file: BookFile, cut?: CutOptions | null, reading?: ReadOptions | null): Listing;

/**
 * Compares two runs: what `closeread compare RUN_A RUN_B --json` prints, byte for byte, without its line end. The same run
 * twice compares its cells.
 *
 * # Errors
 * Nothing that could be compared as asked; the message says what there is to choose from.
 */
export function compareJson(a: OpenRun, b: OpenRun, options?: CompareOptions | null): string;

/**
 * Returns every method, with the calls and tokens of one question on a book: what `closeread methods BOOK --json`
 * prints.
 *
 * # Errors
 * A file that is no text, an asset that was not provided.
 */
export function methods(book: MethodBook): MethodOffer[];

/**
 * Reads the text of a `model.toml`.
 *
 * # Errors
 * A text that is no description of a model.
 */
export function modelFacts(toml: string): ModelFacts;

/**
 * Compares the answers that the same passages gave in two orders, question by question.
 *
 * # Errors
 * Questions of another shape.
 */
export function orderEffect(questions: BothOrders[]): OrderEffect;

/**
 * Hands in the bytes of a file, decompressed. What was handed in once stays.
 *
 * Books are cut with `punkt-en` and counted with `cl100k` or `o200k`; METEOR needs `wordnet` and `punkt-en`.
 *
 * # Errors
 * An unknown name, or bytes that are not that file's.
 */
export function provide(name: AssetName, bytes: Uint8Array | number[]): void;

/**
 * Returns whether an asset was handed in.
 *
 * # Errors
 * An unknown name.
 */
export function provided(name: AssetName): boolean;

/**
 * Scores predictions: what `closeread score --gold ITEMS --predictions FILE --json` prints, as an object.
 *
 * Only METEOR needs `assets`.
 *
 * # Errors
 * A gold file without items, an unknown option or label, or METEOR without WordNet. Bad rows are no errors: they are
 * in the ledger.
 */
export function score(gold: NamedFile, predictions: NamedFile, options?: ScoreOptions | null, assets?: Assets | null): Scorecard;

/**
 * Scores published prediction files: what `closeread score --format NAME FILE... --json` prints, as an object.
 *
 * # Errors
 * An unknown format, task or system, files that cannot be read as that format, and as [`score`].
 */
export function scoreFormat(name: string, files: NamedFile[], gold: NamedFile[], options?: ScoreOptions | null, assets?: Assets | null): Scorecard;

/**
 * As [`score_format`], byte for byte as the command line prints it, without its line end.
 *
 * # Errors
 * As [`score_format`].
 */
export function scoreFormatJson(name: string, files: NamedFile[], gold: NamedFile[], options?: ScoreOptions | null, assets?: Assets | null): string;

/**
 * As [`score`], byte for byte as the command line prints it, without its line end.
 *
 * # Errors
 * As [`score`].
 */
export function scoreJson(gold: NamedFile, predictions: NamedFile, options?: ScoreOptions | null, assets?: Assets | null): string;

/**
 * Searches a book by BM25: what `closeread search FILE QUESTION --retriever bm25 --json` prints.
 *
 * # Errors
 * As [`chunk`].
 */
export function search(file: BookFile, question: string, options?: SearchOptions | null, cut?: CutOptions | null, reading?: ReadOptions | null): Found;

/**
 * Returns the comparison as people read it: for each pair of cells and metric what can be concluded, a table, and the
 * items that differ.
 *
 * # Errors
 * As [`compare_json`].
 */
export function shownComparison(a: OpenRun, b: OpenRun, options?: CompareOptions | null): ShownComparison[];
