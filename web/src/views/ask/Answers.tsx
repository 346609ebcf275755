// One question: the answers of both orders side by side, as they are written.

import type { OrderEffect } from "../../closeread_wasm.js";
import { Ribbon } from "../../parts/Ribbon.js";
import { ORDERS, answered, type Answer, type Asked, type Order } from "../../play/asked.js";
import { useWords } from "../../context.js";
import type { OpenBook } from "../../state/app.js";
import * as words from "../../words/ask.js";
import * as watchWords from "../../words/watch.js";
import { useDraft } from "../model/draft.js";
import { Pacing, Passing } from "../watch/Pacing.js";
import { ExactText, Folded } from "../watch/Text.js";
import type { Pace } from "../../model/timing.js";

interface Props {
    asked: Asked;
    number: number;
    of: number;
    scored: OrderEffect["scored"][number] | undefined;
    book: OpenBook;
    pace: () => Pace | undefined;
    typed: ((text: string) => void) | undefined;
}

export function Answers({ asked, number, of, scored, book, pace, typed }: Props) {
    const say = useWords(words);
    const { item, answers } = asked;
    const gold = goldOf(asked);
    const context = answers["dos-rag"].record?.context ?? answers["vanilla-rag"].record?.context;
    return (
        <section class="answers" aria-labelledby="asked-heading">
            <p class="label">{say.question(number + 1, of)}</p>
            <h2 id="asked-heading" class="asked foreign" dir="auto" tabIndex={-1}>
                {item.question}
            </h2>
            {gold !== undefined && (
                <p class="gold">
                    {say.gold}:{" "}
                    <span class="foreign" dir="auto">
                        {gold}
                    </span>
                </p>
            )}
            {context && (
                <Ribbon
                    nBytes={book.facts.nBytes}
                    chapters={book.chapters}
                    retrieved={context.passages}
                    label={say.passages(context.passages.length, context.n_tokens)}
                />
            )}
            <div class="cards">
                {ORDERS.map((order, side) => (
                    <Card
                        key={order}
                        order={order}
                        answer={answers[order]}
                        score={scored == null ? undefined : (scored[side + 1] as number)}
                        nBytes={book.facts.nBytes}
                        pace={pace}
                        typed={answers[order].state === "asked" && answers[order].prompt !== "" ? typed : undefined}
                    />
                ))}
            </div>
        </section>
    );
}

export function goldOf({ item }: Asked): string | undefined {
    return item.options !== undefined && item.correct !== undefined ? item.options[item.correct] : item.answers?.[0];
}

function Card({
    order,
    answer,
    score,
    nBytes,
    pace,
    typed,
}: {
    order: Order;
    answer: Answer;
    score: number | undefined;
    nBytes: number;
    pace: () => Pace | undefined;
    typed: ((text: string) => void) | undefined;
}) {
    const say = useWords(words);
    const watchSay = useWords(watchWords);
    const { state, record, text, prompt, failure, retrying } = answer;
    const ended = record && record.outcome !== "answered" ? watchSay.outcomes[record.outcome] : undefined;
    return (
        <article class="answer" data-order={order} data-state={state} aria-label={say.orders[order]}>
            <header>
                <h3>{say.orders[order]}</h3>
                {record?.context && <span class="facts num">{say.passages(record.context.passages.length, record.context.n_tokens)}</span>}
            </header>
            <div class="body">
                <div>
                    {state === "done" ? (
                        <p class="short serif">
                            <Mark score={score} />{" "}
                            <span class="foreign" dir="auto">
                                {ended ?? answered(answer)}
                            </span>
                        </p>
                    ) : state === "open" ? (
                        <p class="mute">{say.open}</p>
                    ) : state === "failed" ? (
                        <p class="problem" role="alert">
                            {say.failed}: {failure}
                        </p>
                    ) : retrying ? (
                        <p class="mute">{watchSay.retrying(retrying.message, retrying.tries, retrying.of, retrying.wait)}</p>
                    ) : text === "" && !typed ? (
                        <p class="mute">{say.reading}</p>
                    ) : null}
                    {typed && <Typed prompt={prompt} typed={typed} />}
                    {text !== "" && (
                        <p class="said serif foreign" dir="auto">
                            {text}
                            {state === "asked" && <span class="cursor" aria-hidden="true" />}
                        </p>
                    )}
                </div>
                {record?.context && <Path passages={record.context.passages} nBytes={nBytes} />}
            </div>
            <footer class="facts num">
                {state === "asked" ? (
                    <Passing pace={pace} />
                ) : (
                    answer.pace && <Pacing pace={answer.pace} counted={record?.calls.at(-1)?.usage.completion_tokens} />
                )}
                {prompt !== "" && <Folded summary={say.exactPrompt}>{() => <ExactText text={prompt} />}</Folded>}
            </footer>
        </article>
    );
}

/** Right and wrong are shapes; what is scored in parts is a number. */
export function Mark({ score }: { score: number | undefined }) {
    const say = useWords(words);
    if (score === undefined) return null;
    if (score === 1) return <span class="ok" role="img" aria-label={say.right} />;
    if (score === 0) return <span class="no" role="img" aria-label={say.wrong} />;
    return <span class="partly num">{say.partly(score)}</span>;
}

function Typed({ prompt, typed }: { prompt: string; typed: (text: string) => void }) {
    const say = useWords(words);
    const [text, type] = useDraft(prompt);
    const send = (event: SubmitEvent) => {
        event.preventDefault();
        typed(text);
    };
    return (
        <form onSubmit={send}>
            <label for="typed-answer">{say.typed}</label>
            <textarea id="typed-answer" rows={3} value={text} onInput={(event) => type(event.currentTarget.value)} />
            <button type="submit" class="primary">
                {say.send}
            </button>
        </form>
    );
}

/** The order is a path: from left to right the book, from top to bottom what the model reads. */
function Path({ passages, nBytes }: { passages: { start: number }[]; nBytes: number }) {
    const say = useWords(words);
    const [width, height] = [130, Math.max(60, Math.min(160, 11 * passages.length))];
    const at = passages.map(
        ({ start }, n) => [6 + (start / Math.max(1, nBytes)) * (width - 12), 6 + (n / Math.max(1, passages.length - 1)) * (height - 12)] as const,
    );
    return (
        <svg class="path" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={say.path}>
            <line class="edge" x1="0.5" x2="0.5" y1="0" y2={height} />
            <line class="edge" x1={width - 0.5} x2={width - 0.5} y1="0" y2={height} />
            <polyline points={at.map((point) => point.join(",")).join(" ")} />
            {at.map(([x, y], n) => (
                <rect key={n} class="retrieved" x={x - 2.5} y={y - 2.5} width="5" height="5" />
            ))}
        </svg>
    );
}
