// Asks questions one after the other, each in both orders. What could not be sent stays open and can be asked again.

import type { Item, MethodOptions } from "../closeread_wasm.js";
import type { Core } from "../core.js";
import type { BookFacts } from "../messages/watch.js";
import type { Engine } from "../model/engine.js";
import { Store } from "../state/store.js";
import { NOTHING, ORDERS, isDone, reduceAsk, type AskAction, type AskState, type Order } from "./asked.js";
import { Player, type Embedding } from "./player.js";
import { calls } from "./run.js";

/** All that is alike for every question. */
export interface AskPlan {
    book: BookFacts;
    options: Omit<MethodOptions, "method" | "model">;
}

export class Asker {
    readonly store = new Store<AskState, AskAction>(reduceAsk, NOTHING);
    #playing: Player | undefined;
    #stopped = false;

    constructor(
        readonly core: Core,
        readonly plan: AskPlan,
        readonly engine: (run: () => number) => Engine,
        readonly embedding?: Embedding,
    ) {}

    get state(): AskState {
        return this.store.state;
    }

    /** Asks these questions; before them, those that are still open. */
    async ask(items: readonly Item[]): Promise<void> {
        this.#stopped = false;
        this.#do({ kind: this.state.questions.length === 0 ? "begun" : "more", items });
        try {
            for (let n = 0; n < this.state.questions.length && !this.#stopped; n += 1) {
                if (isDone(this.state.questions[n]!)) continue;
                for (const order of ORDERS) {
                    if (this.#stopped || this.state.questions[n]!.answers[order].state === "done") continue;
                    if (!(await this.#answer(n, order))) return;
                }
                if (!this.#stopped) await this.#compare();
            }
        } finally {
            this.#do({ kind: "phase", phase: "over" });
        }
    }

    /** Asks what is still open. */
    goOn(): Promise<void> {
        return this.ask([]);
    }

    stop(): void {
        this.#stopped = true;
        this.#playing?.forget();
    }

    /** Of the call that is being answered. */
    get pace() {
        return this.#playing?.pace;
    }

    /** Runs one question in one order; whether it came to an end. */
    async #answer(question: number, order: Order): Promise<boolean> {
        const { item } = this.state.questions[question]!;
        const { book, options } = this.plan;
        let player: Player | undefined;
        const engine = () => this.engine(() => player?.run ?? 0);
        const model = engine().name;
        player = new Player(this.core, { book, item, options: { ...options, method: order, model } }, engine, this.embedding);
        const playing: Player = player;
        this.#playing = playing;
        const say = (answer: Extract<AskAction, { kind: "answer" }>["answer"]) => this.#do({ kind: "answer", question, order, answer });
        say({ state: "asked", text: "", prompt: "", failure: undefined, record: undefined, by: model });
        let [ended, lost] = [false, false];
        // A call that could not be sent leaves the run waiting; here it is given up, and asked anew when the reader goes on.
        const failed = new Promise<void>((resolve) =>
            playing.store.subscribe(() => {
                const [call] = calls(playing.state.steps);
                if (call === undefined) return;
                if (call.failure !== undefined && call.state === "waiting") {
                    if (!lost) say({ state: "failed", failure: call.failure, text: call.text });
                    lost = true;
                    return resolve();
                }
                const prompt = call.call.messages.map(({ content }) => content).join("\n\n");
                say({ text: call.text, prompt, pace: call.pace, retrying: call.retrying });
            }),
        );
        playing.play();
        const finished = playing.start().then(() => {
            if (lost) return;
            const { record } = playing.state;
            ended = record !== undefined;
            const pace = calls(playing.state.steps).at(-1)?.pace;
            say(record === undefined ? { state: "open" } : { state: "done", record, pace, text: record.calls.at(-1)?.response ?? "" });
        });
        finished.catch(() => {});
        try {
            await Promise.race([finished, failed]);
        } catch (error) {
            say({ state: "failed", failure: error instanceof Error ? error.message : String(error) });
        }
        playing.forget();
        return ended;
    }

    async #compare(): Promise<void> {
        const book = this.plan.book.id ?? "book";
        const scores = (n: number, order: Order) => this.state.questions[n]?.answers[order].record?.scores ?? {};
        const questions = this.state.questions.map((_, n) => ({ book, by_score: scores(n, "vanilla-rag"), by_place: scores(n, "dos-rag") }));
        this.#do({ kind: "effect", effect: await this.core.ask("watch/orders", { questions }) });
    }

    #do(action: AskAction): void {
        this.store.dispatch(action);
    }
}
