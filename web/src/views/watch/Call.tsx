// One call: its exact prompt, the response as it is written, what that was understood as, what it changed.

import { useEffect, useRef } from "preact/hooks";
import type { Parsed, MethodCall, MethodMessage, Outcome, TextChange } from "../../closeread_wasm.js";
import type { CallStep } from "../../play/run.js";
import { useWords } from "../../context.js";
import * as words from "../../words/watch.js";
import { Copy } from "../model/Copy.js";
import { useDraft } from "../model/draft.js";
import { Pacing } from "./Pacing.js";
import { ExactText, Folded, LongList } from "./Text.js";

interface Props {
    /** The run that the call is of. */
    run: number;
    step: CallStep;
    before: MethodCall | undefined;
    /** Takes a person's response, where one is asked for. */
    typed: ((text: string) => void) | undefined;
    again: (() => void) | undefined;
}

export function Call({ run, step, before, typed, again }: Props) {
    const say = useWords(words);
    const { call, state, text, response, parsed, changes, failure, retrying, pace, by } = step;
    const counted = response?.usage?.prompt_tokens != null || response?.usage?.completion_tokens != null;
    const prompt = call.messages.map(({ content }) => content).join("\n\n");
    return (
        <article class="call" data-call={call.id} data-state={state} aria-labelledby="call-heading">
            <section>
                <h3 id="prompt-heading">
                    {say.prompt}{" "}
                    <span class="facts num">
                        {say.callFacts(call.prompt, call.tokens)} <Copy text={prompt} label={say.copyPrompt} />
                    </span>
                </h3>
                <Prompt call={call} before={before} />
                <Passages call={call} before={before} />
            </section>
            <section>
                <h3>
                    {say.response}{" "}
                    {response !== undefined && (
                        <span class="facts num">
                            {counted && say.usage(response.usage?.prompt_tokens ?? null, response.usage?.completion_tokens ?? null)}{" "}
                            {by !== undefined && say.by(by)} <Copy text={text} label={say.copyResponse} />
                        </span>
                    )}
                </h3>
                {state === "waiting" && typed ? (
                    <Typed run={run} call={call} typed={typed} />
                ) : state === "waiting" && failure === undefined ? (
                    <p class="mute">{say.states.waiting}</p>
                ) : null}
                {failure !== undefined && (
                    <div class="failed" role="alert">
                        <p class="problem">{failure}</p>
                        {state === "waiting" && (
                            <>
                                <p>{say.notSent}</p>
                                {again && (
                                    <p>
                                        <button type="button" class="again" onClick={again}>
                                            {say.sendAgain}
                                        </button>
                                    </p>
                                )}
                            </>
                        )}
                    </div>
                )}
                {state === "sent" && (
                    <>
                        <p class="response stream foreign" dir="auto" aria-live="off">
                            {text}
                            <span class="cursor" aria-hidden="true" />
                        </p>
                        <p class="facts">
                            {retrying ? say.retrying(retrying.message, retrying.tries, retrying.of, retrying.wait) : text === "" ? say.reads : say.states.sent}
                        </p>
                    </>
                )}
                {state === "done" && response !== undefined && (
                    <div class="response">
                        <ExactText text={text} />
                    </div>
                )}
                {response?.finish === "length" && <p class="facts">{say.cut}</p>}
                {pace && (
                    <p class="facts num">
                        <Pacing pace={pace} counted={response?.usage?.completion_tokens} />
                    </p>
                )}
            </section>
            {parsed && (
                <section>
                    <h3>{say.parsed}</h3>
                    <p class="parsed">
                        <Understood parsed={parsed} />
                    </p>
                </section>
            )}
            {changes && <Changes changes={changes} />}
        </article>
    );
}

function Prompt({ call, before }: { call: MethodCall; before: MethodCall | undefined }) {
    const say = useWords(words);
    // What a dialogue said before stands in the calls before.
    const same = (n: number) =>
        before !== undefined &&
        before.messages.length < call.messages.length &&
        n < before.messages.length &&
        before.messages[n]?.content === call.messages[n]?.content;
    const known = call.messages.filter((_, n) => same(n)).length;
    return (
        <div class="prompt">
            {known > 0 && (
                <Folded summary={say.saidBefore(known)}>
                    {() => call.messages.slice(0, known).map((message, n) => <Message key={n} message={message} />)}
                </Folded>
            )}
            {call.messages.slice(known).map((message, n) => (
                <Message key={n} message={message} />
            ))}
        </div>
    );
}

function Message({ message: { role, content, tokens, sharedLength } }: { message: MethodMessage }) {
    const say = useWords(words);
    return (
        <div class={`message ${role}`}>
            <p class="facts">
                {say.speakers[role]}, {say.messageFacts(tokens)}
                {sharedLength !== undefined && (
                    <>
                        <br />
                        {say.shared}
                    </>
                )}
            </p>
            <ExactText text={content} shared={sharedLength} />
        </div>
    );
}

function Passages({ call: { passages }, before }: { call: MethodCall; before: MethodCall | undefined }) {
    const say = useWords(words);
    if (passages.length === 0) return null;
    const known = new Set(before?.passages);
    const fresh = passages.filter((text) => !known.has(text)).length;
    return (
        <Folded summary={say.passages(passages.length, fresh)}>
            {() => (
                <LongList items={passages}>
                    {(text) => <ExactText text={text} fresh={known.size > 0 && !known.has(text) && fresh < passages.length} />}
                </LongList>
            )}
        </Folded>
    );
}

function Typed({ run, call, typed }: { run: number; call: MethodCall; typed: (text: string) => void }) {
    const say = useWords(words);
    const [text, type] = useDraft(`${run} ${call.id}`);
    const field = useRef<HTMLTextAreaElement>(null);
    useEffect(() => field.current?.focus(), [call.id]);
    return (
        <form
            class="typed"
            onSubmit={(event) => {
                event.preventDefault();
                typed(text);
            }}
        >
            <label for="response">{say.typeResponse}</label>
            <textarea id="response" ref={field} rows={4} value={text} onInput={(event) => type(event.currentTarget.value)} />
            <button type="submit" class="primary" id="send-response">
                {say.sendResponse}
            </button>
        </form>
    );
}

export function Understood({ parsed }: { parsed: Parsed }) {
    const say = useWords(words);
    switch (parsed.said) {
        case "answer":
            return <HowEnded ended={parsed} />;
        case "query":
            return (
                <strong class="foreign" dir="auto">
                    {say.query(parsed.query)}
                </strong>
            );
        case "blocks":
            return <>{say.blocks(parsed.answers, parsed.queries)}</>;
        case "break":
            return <strong>{say.break(parsed.label)}</strong>;
        case "pages":
            return <strong>{say.pages(parsed.pages)}</strong>;
        case "memory":
        case "gist":
        case "summary":
            return <strong>{say[parsed.said]}</strong>;
    }
}

/** How something ended, with the answer where there is one. */
export function HowEnded({ ended }: { ended: Outcome }) {
    const say = useWords(words);
    const said = <strong>{say.outcomes[ended.outcome]}</strong>;
    switch (ended.outcome) {
        case "answered":
            return (
                <>
                    {said}:{" "}
                    <span class="foreign" dir="auto">
                        {ended.answer}
                    </span>
                </>
            );
        case "failed":
            return (
                <>
                    {said}: {ended.error}
                </>
            );
        case "blocked":
        case "not_asked":
            return (
                <>
                    {said}: {ended.reason}
                </>
            );
        default:
            return said;
    }
}

/** A memory with what it forgot and learnt; marked by element and by sign, not by colour alone. */
function Changes({ changes }: { changes: TextChange[] }) {
    const say = useWords(words);
    return (
        <section>
            <h3>{say.memoryChange}</h3>
            <div class="changes book-text">
                {changes.map(({ kind, text }, n) => {
                    if (kind === "kept")
                        return (
                            <span key={n} class="foreign" dir="auto">
                                {text}
                            </span>
                        );
                    const label = <b class="facts">[{kind === "gone" ? say.gone : say.fresh}] </b>;
                    return kind === "gone" ? (
                        <del key={n} class="foreign" dir="auto">
                            {label}
                            {text}
                        </del>
                    ) : (
                        <ins key={n} class="foreign" dir="auto">
                            {label}
                            {text}
                        </ins>
                    );
                })}
            </div>
        </section>
    );
}
