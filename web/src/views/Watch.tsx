// Watch: any method of the papers, call by call: what is sent, what comes back, what is understood, what it changes.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Item, MethodOffer } from "../closeread_wasm.js";
import { Missing } from "../model/models.js";
import { Ribbon } from "../parts/Ribbon.js";
import { Embedder } from "../play/embedder.js";
import { warnLeaving } from "../play/leaving.js";
import { Player } from "../play/player.js";
import { calls, nextCall, sentCall } from "../play/run.js";
import { visible } from "../runs/text.js";
import { sample } from "../sample.js";
import type { Session } from "../session.js";
import { useApp, useSession, useWords } from "../context.js";
import type { OpenBook } from "../state/app.js";
import { settingsOf } from "../state/find.js";
import { useStore } from "../state/store.js";
import * as modelWords from "../words/model.js";
import * as words from "../words/watch.js";
import { Fits } from "./model/Notes.js";
import { Takes } from "./model/Takes.js";
import { Call } from "./watch/Call.js";
import { Ending } from "./watch/Ending.js";
import { Made } from "./watch/Made.js";
import { Passing } from "./watch/Pacing.js";
import { Setup } from "./watch/Setup.js";
import { FRESH, METHOD, callsOf, factsOf, itemOf, itemsAbout, planOf, takesBudget, tokensOf, type SetupState } from "./watch/plan.js";
import { Timeline, callBefore, usePlaces } from "./watch/Timeline.js";

/** What stays while another view is shown. */
interface Kept {
    setup: SetupState;
    player: Player | undefined;
    book: OpenBook | undefined;
    embedder: Embedder;
    /** The method that was last chosen; an address may name another. */
    method: string;
}

function keptOf(session: Session): Kept {
    const before = session.kept.get("watch") as Kept | undefined;
    if (before) return before;
    const kept: Kept = { setup: FRESH, player: undefined, book: undefined, embedder: new Embedder(session), method: METHOD };
    session.kept.set("watch", kept);
    // Whatever view is shown: nobody would see the calls.
    session.addEventListener("book", () => kept.player?.forget());
    return kept;
}

export function Watch() {
    const session = useSession();
    const say = useWords(words);
    const book = useApp((state) => state.book);
    const kept = keptOf(session);
    const [offered, setOffered] = useState<{ book: OpenBook; offers: MethodOffer[]; items: Item[]; part: number }>();
    const [setup, setSetup] = useState(kept.setup);
    useEffect(() => {
        if (book === undefined) return;
        let wanted = true;
        void session.attempt(async () => {
            const [offers, { items }] = await Promise.all([session.core.ask("watch/methods", { book: factsOf(book, setup.part) }), sample()]);
            if (wanted) setOffered({ book, offers, items: itemsAbout(items, book), part: setup.part });
        });
        return () => void (wanted = false);
    }, [book, setup.part]);
    if (book !== kept.book) {
        kept.player?.forget();
        [kept.player, kept.book] = [undefined, book];
        if (setup.part >= (book?.chapters.length ?? 0)) setSetup((kept.setup = { ...kept.setup, part: -1 }));
    }
    const set = (change: Partial<SetupState>) => setSetup((kept.setup = { ...kept.setup, ...change }));
    return (
        <section id="watch" class="watch" aria-labelledby="watch-heading">
            <h1 id="watch-heading">{say.heading}</h1>
            {book === undefined ? (
                <>
                    <p class="lede serif">{say.lead}</p>
                    <p class="mute">{say.noBook}</p>
                </>
            ) : (
                offered?.book === book && <Stage {...{ session, kept, setup, set, ...offered }} />
            )}
        </section>
    );
}

interface StageProps {
    session: Session;
    kept: Kept;
    setup: SetupState;
    set: (change: Partial<SetupState>) => void;
    book: OpenBook;
    offers: MethodOffer[];
    items: Item[];
}

function Stage({ session, kept, setup, set, book, offers, items }: StageProps) {
    const say = useWords(words);
    const modelSay = useWords(modelWords);
    const question = useApp((state) => state.question);
    const query = useApp((state) => state.address.query);
    const [player, setPlayer] = useState(kept.player);
    const [missing, setMissing] = useState<"question">();
    const offer = offers.find(({ name }) => name === (query.m ?? kept.method)) ?? offers[0]!;
    kept.method = offer.name;
    const budget = settingsOf(query).budget;
    // The first question of the sample stands there until another one is asked.
    useEffect(() => {
        if (question.text === "" && question.item === undefined && items[0] && query.q === undefined) session.ask(items[0].question, items[0], "replace");
    }, [book]);
    const start = (): Player | undefined => {
        const item = itemOf(question, setup, book);
        setMissing(item === undefined ? "question" : undefined);
        if (item === undefined) {
            document.getElementById("own-question")?.focus();
            return undefined;
        }
        kept.player?.forget();
        const language = book.facts.language;
        let made: Player | undefined;
        const engine = () => session.models.engine(() => made?.run ?? 0, language);
        try {
            made = new Player(session.core, planOf(offer, book, item, setup, budget, engine()), engine, kept.embedder);
        } catch (error) {
            throw error instanceof Missing ? new Error(modelSay.missing[error.what]) : error;
        }
        warnLeaving(made.store, ({ phase, steps }) => phase === "running" && calls(steps).some(({ state }) => state !== "waiting"));
        kept.player = made;
        setPlayer(made);
        return made;
    };
    const begin = (plays: boolean) =>
        session.attempt(async () => {
            const made = start();
            if (made === undefined) return;
            try {
                if (setup.retriever !== "bm25" && offer.searches) await kept.embedder.check();
                if (plays) made.play();
                await made.start();
            } catch (error) {
                // What never began is set up anew.
                if (made.state.steps.length === 0 && kept.player === made) again();
                throw error;
            }
        });
    const again = () => {
        kept.player?.forget();
        kept.player = undefined;
        setPlayer(undefined);
    };
    return (
        <>
            {player === undefined && <Setup {...{ offers, offer, items, book, setup, set, budget, missing }} />}
            {player === undefined && takesBudget(offer) && <Fits budget={budget} />}
            {player === undefined && (
                <Takes
                    calls={callsOf(offer, budget)}
                    tokens={tokensOf(offer, budget)}
                    part={book.chapters.length > 1 && setup.part < 0 ? () => set({ part: 0 }) : undefined}
                />
            )}
            {player === undefined ? (
                <p class="buttons">
                    <button id="step" type="button" class="primary" onClick={() => begin(false)}>
                        {say.step}
                    </button>
                    <button id="play" type="button" onClick={() => begin(true)}>
                        {say.play}
                    </button>
                    <span class="mute small">{say.stepHint}</span>
                </p>
            ) : (
                <Running key={player.run} {...{ session, player, book, again, of: callsOf(offer, budget) }} />
            )}
        </>
    );
}

function Running({
    session,
    player,
    book,
    again,
    of,
}: {
    session: Session;
    player: Player;
    book: OpenBook;
    again: () => void;
    of: { low: number; high: number };
}) {
    const say = useWords(words);
    const modelSay = useWords(modelWords);
    const state = useStore(player.store, (all) => all);
    const person = useStore(session.models.store, ({ choice }) => choice.source === "person");
    const [chosen, choose] = useState<number>();
    const heading = useRef<HTMLHeadingElement>(null);
    const selected = Math.min(chosen ?? state.steps.length - 1, state.steps.length - 1);
    const step = state.steps[selected];
    const [next, sent] = [nextCall(state), sentCall(state)];
    const running = state.phase === "running";
    const places = usePlaces(player, step?.kind === "call" && step.call.passages.length > 0 ? step.call.id : undefined);
    const number = (sent ?? next)?.call.id ?? state.steps.filter(({ kind }) => kind === "call").length - 1;
    useEffect(() => {
        const call = sent ?? next;
        if (call) session.say(say.said(say.call(call.call.id + 1), say.callFacts(call.call.prompt, call.call.tokens)));
        if (!running) session.say(state.record ? say.ended(say.outcomes[state.record.outcome]) : say.stopped);
    }, [sent?.call.id, next?.call.id, state.phase]);
    useEffect(() => {
        if (state.embedded > 0) session.say(say.embedded(state.embedded));
    }, [state.embedded]);
    const failed = (error: unknown) => (error instanceof Missing ? new Error(modelSay.missing[error.what]) : error);
    const doing = (action: () => Promise<void> | void) => () =>
        session.attempt(async () => {
            try {
                await action();
            } catch (error) {
                throw failed(error);
            }
        });
    const typed = (text: string) => {
        choose(undefined);
        void session.attempt(() => player.step());
        session.models.person.reply(text);
    };
    // Who goes on looks at what comes.
    const stepped = () => {
        choose(undefined);
        void doing(() => player.step())();
    };
    const cannot = !running || next === undefined || sent !== undefined || person || state.playing;
    const show = (place: number) => {
        choose(place);
        heading.current?.focus();
    };
    return (
        <>
            <p class="asked serif foreign" dir="auto">
                {player.plan.item.question}
            </p>
            <Ribbon
                nBytes={book.facts.nBytes}
                chapters={book.chapters}
                retrieved={places?.passages ?? []}
                evidence={places?.evidence ?? []}
                label={step?.kind === "call" ? say.ribbonOf(step.call.id + 1, places?.passages.length ?? 0) : say.ribbonOf(0, 0)}
            />
            <div class="buttons run" role="group" aria-label={say.stage}>
                {/* Not `disabled`: that would take the focus from who steps by keyboard. */}
                <button id="step" type="button" class="primary" aria-disabled={cannot} onClick={() => cannot || stepped()}>
                    {say.step}
                </button>
                {running && !person && (
                    <button id="play" type="button" onClick={() => (state.playing ? player.pause() : player.play())}>
                        {state.playing ? say.pause : say.play}
                    </button>
                )}
                {sent && (
                    <button id="cancel" type="button" onClick={() => player.cancel()}>
                        {say.cancel}
                    </button>
                )}
                {running && (
                    <button id="stop" type="button" onClick={() => player.stop()}>
                        {say.stop}
                    </button>
                )}
                {!running && (
                    <button id="again" type="button" onClick={again}>
                        {say.again}
                    </button>
                )}
                <span class="mute">
                    {player.plan.options.method} · {visible(player.plan.options.model ?? "")}
                </span>
                <span class="spacer" />
                <span id="progress" class="num">
                    <b>{number >= 0 && say.callOf(number + 1, of)}</b>
                    {sent && (
                        <>
                            {" "}
                            · <Passing pace={() => player.pace} />
                        </>
                    )}
                </span>
            </div>
            {state.record && <Ending player={player} record={state.record} />}
            <div class="lay">
                <Timeline {...{ player, steps: state.steps, selected, select: show, nBytes: book.facts.nBytes, chapters: book.chapters }} />
                <div class="detail">
                    {step && (
                        <>
                            <header>
                                <h2 id="call-heading" ref={heading} tabIndex={-1}>
                                    {step.kind === "call" ? say.call(step.call.id + 1) : say.tree}
                                </h2>
                                <span class="buttons">
                                    <button type="button" id="previous" disabled={selected <= 0} onClick={() => choose(selected - 1)}>
                                        {say.previous}
                                    </button>
                                    <button type="button" id="next" disabled={selected >= state.steps.length - 1} onClick={() => choose(selected + 1)}>
                                        {say.next}
                                    </button>
                                </span>
                            </header>
                            {step.kind === "call" ? (
                                <Call
                                    key={step.call.id}
                                    run={player.run}
                                    step={step}
                                    before={callBefore(state.steps, step)?.call}
                                    typed={person && step === next && running ? typed : undefined}
                                    again={step === next && running && !person ? doing(() => player.step()) : undefined}
                                />
                            ) : (
                                <Made preparation={step.preparation} />
                            )}
                        </>
                    )}
                </div>
            </div>
        </>
    );
}
