// The chosen model: how it runs, how fast it is, what a question will take, and a try.

import { useEffect, useRef, useState } from "preact/hooks";
import type { MethodCall, Retrying } from "../../closeread_wasm.js";
import { Missing } from "../../model/models.js";
import { Clock, read, written, type Pace } from "../../model/timing.js";
import { useApp, useSession, useWords } from "../../context.js";
import { inView } from "../../state/address.js";
import { useStore } from "../../state/store.js";
import * as words from "../../words/model.js";
import * as watchWords from "../../words/watch.js";
import { useModelName } from "./name.js";

/** Tokens of an answer of usual length, for an estimate. */
const ANSWER = 60;
const BUDGET = 1500;

export function Chosen() {
    const session = useSession();
    const say = useWords(words);
    const sayRetrying = useWords(watchWords).retrying;
    const { models } = session;
    const state = useStore(models.store, (all) => all);
    const { address, book } = useApp((all) => all);
    const name = useModelName();
    const [now, setNow] = useState<{ text: string; pace: Pace | undefined; going: boolean; retrying?: Retrying }>();
    const trying = useRef<AbortController | undefined>(undefined);
    useEffect(() => () => trying.current?.abort(), []);
    const { source } = state.choice;
    const canTry = source !== "words" && source !== "person";

    const tryIt = () =>
        session.attempt(async () => {
            const controller = new AbortController();
            trying.current = controller;
            const clock = new Clock();
            setNow({ text: "", pace: undefined, going: true });
            try {
                const engine = models.engine(() => 0, session.book?.facts.language ?? "en");
                const response = await engine.chat(sampleCall(say.tryPrompt), {
                    signal: controller.signal,
                    onToken: (text) => {
                        clock.piece();
                        setNow({ text, pace: clock.pace, going: true });
                    },
                    onRetry: (retrying) => {
                        clock.again(retrying.wait);
                        setNow({ text: "", pace: undefined, going: true, retrying });
                    },
                });
                clock.stop();
                setNow({ text: response.text, pace: clock.pace, going: false });
                models.measured(engine.name, {
                    read: read(clock.pace, response.usage?.prompt_tokens ?? 0),
                    written: written(clock.pace, response.usage?.completion_tokens),
                });
            } catch (error) {
                setNow((before) => before && { text: before.text, pace: before.pace, going: false });
                throw error instanceof Missing ? new Error(say.missing[error.what]) : error;
            }
        });
    // Follows the state, which is read above.
    const window = models.facts?.window;
    const speed = state.speeds[models.facts?.name ?? ""];
    const takes = (tokens: number) => (speed?.read && speed.written ? tokens / speed.read + ANSWER / speed.written : undefined);
    const tokens = book?.facts.nTokens;
    const [aQuestion, aBook] = [takes(BUDGET), tokens === undefined ? undefined : takes(tokens)];
    const facts =
        now?.retrying !== undefined
            ? sayRetrying(now.retrying.message, now.retrying.tries, now.retrying.of, now.retrying.wait)
            : now?.pace !== undefined
              ? say.tried(now.pace.seconds, perSecond(now.pace, say.perSecond))
              : now?.going
                ? say.trying
                : "";
    return (
        <div class="panel chosen">
            <h2 id="chosen-name">{name}</h2>
            <dl class="num">
                {state.running && (
                    <>
                        <dt>{say.facts.runs}</dt>
                        <dd>{say.runs(state.running.threads, state.running.webGpu)}</dd>
                    </>
                )}
                {window !== undefined && window > 0 && (
                    <>
                        <dt>{say.facts.window}</dt>
                        <dd>{say.tokens(window)}</dd>
                    </>
                )}
                {canTry && (
                    <>
                        <dt>{say.facts.reads}</dt>
                        <dd>{speed?.read ? say.perSecond(speed.read) : say.notMeasured}</dd>
                    </>
                )}
                {canTry && speed?.written && (
                    <>
                        <dt>{say.facts.writes}</dt>
                        <dd>{say.perSecond(speed.written)}</dd>
                    </>
                )}
                {aQuestion !== undefined && (
                    <>
                        <dt>{say.facts.question}</dt>
                        <dd>{say.aQuestion(say.seconds(aQuestion), BUDGET)}</dd>
                    </>
                )}
                {aBook !== undefined && tokens !== undefined && (
                    <>
                        <dt>{say.facts.book}</dt>
                        <dd>
                            {window !== undefined && window > 0 && tokens > window ? say.tooLong(tokens, window) : say.wholeBook(say.seconds(aBook), tokens)}
                        </dd>
                    </>
                )}
            </dl>
            {canTry && (
                <>
                    <p class="label">{say.tryPrompt}</p>
                    <p id="tried" class="stream foreign" dir="auto" aria-live="off">
                        {now?.text}
                        {now?.going && <span class="cursor" aria-hidden="true" />}
                    </p>
                    <p id="tried-facts" class="small num mute" role="status">
                        {facts}
                    </p>
                </>
            )}
            <p class="buttons">
                {now?.going ? (
                    <button id="try-stop" type="button" onClick={() => trying.current?.abort()}>
                        {say.stop}
                    </button>
                ) : (
                    canTry && (
                        <button id="try" type="button" onClick={tryIt}>
                            {now ? say.tryAgain : say.tryIt}
                        </button>
                    )
                )}
                <a class="button go" href={inView(address, "ask")}>
                    {say.use}
                </a>
            </p>
        </div>
    );
}

function perSecond(pace: Pace, say: (n: number) => string): string | undefined {
    const speed = written(pace);
    return speed === undefined ? undefined : say(speed);
}

function sampleCall(content: string): MethodCall {
    return {
        id: 0,
        stage: "question",
        prompt: "try",
        messages: [{ role: "user", content, tokens: 0 }],
        tokens: 0,
        temperature: 0,
        maxOutputTokens: 80,
        want: { kind: "answer", form: "marked" },
        question: content,
        options: [],
        passages: [],
        grammar: null,
    };
}
