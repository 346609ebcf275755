// The method theatre: the form, the buttons, the cards as they come.

import { button, make } from "../dom.js";
import type { OpenBook, Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";
import { card, fill } from "./card.js";
import { Embedder } from "./embedder.js";
import { ending } from "./ending.js";
import { made } from "./made.js";
import { Play, type Entry } from "./play.js";
import { freshSetup, setupForm, type SetupState } from "./setup.js";

interface Kept {
    setup: SetupState;
    play: Play | undefined;
    book: OpenBook | undefined;
    embedder: Embedder;
}

export function mount(section: HTMLElement, session: Session): void {
    const kept = (session.kept.get("theatre") as Kept | undefined) ?? {
        setup: freshSetup(), play: undefined, book: undefined, embedder: new Embedder(session),
    };
    session.kept.set("theatre", kept);
    const say = inLanguage(words);
    const setup = make("div", {});
    const stage = make("div", {});
    section.setAttribute("aria-labelledby", "theatre-heading");
    section.replaceChildren(
        make("h2", { id: "theatre-heading" }, say.heading), make("p", { class: "note" }, say.lead), setup, stage);

    let opened = 0;
    const open = () => session.attempt(async () => {
        const mine = ++opened;
        const { book } = session;
        if (book !== kept.book) {
            kept.play?.stop();
            kept.play = undefined;
            kept.book = book;
        }
        stage.replaceChildren();
        if (book === undefined) return setup.replaceChildren(make("p", {}, say.noBook));
        const { form, read } = await setupForm(session, book, kept.setup);
        if (mine !== opened) return;
        setup.replaceChildren(make("h3", {}, say.setup), form);
        const start = () => {
            kept.play?.stop();
            kept.play = new Play(session, read(), kept.embedder);
            return kept.play;
        };
        stage.replaceChildren(...staged(section, session, kept, start));
    });
    session.listen(section, "book", open);
    void open();
}

/** The buttons and what happens. */
function staged(section: HTMLElement, session: Session, kept: Kept, start: () => Play): HTMLElement[] {
    const say = inLanguage(words);
    const list = make("ol", { class: "plain calls" });
    const end = make("div", {});
    const step = button(say.step, () => {
        if (step.getAttribute("aria-disabled") !== "true") void go((play) => play.step(), false);
    }, { id: "step", class: "primary" });
    const run = button(say.play, () => {
        if (kept.play?.playing) return kept.play.pause();
        void go((play) => play.play(), true);
    }, { id: "play" });
    const stop = button(say.stop, () => kept.play?.stop(), { id: "stop" });
    const again = button(say.again, () => {
        kept.play?.stop();
        kept.play = undefined;
        show();
        step.focus();
    }, { id: "again" });
    const buttons = make("p", { class: "buttons", role: "group", "aria-label": say.stage }, step, run, stop, again);

    function go(act: (play: Play) => void | Promise<void>, plays: boolean): Promise<void> {
        return session.attempt(async () => {
            const running = kept.play;
            if (running?.state === "running") return act(running);
            const play = start();
            watch(play);
            play.playing = plays;
            show();
            void play.run();
        });
    }

    const cards = new Map<Entry, HTMLElement>();
    function watch(play: Play): void {
        const current = () => section.isConnected && kept.play === play;
        const typed = (text: string) => void play.step(text);
        const byPerson = play.plan.reader.by === "person" ? typed : undefined;
        const add = (entry: Entry, index: number) => {
            const before = play.entries[index - 1];
            const item = entry.kind === "prepared" ? made(entry.preparation)
                : card(entry, before?.kind === "call" ? before.call : undefined, byPerson);
            cards.set(entry, item);
            list.append(item);
            if (entry.kind !== "call") return;
            session.say(say.said(say.call(entry.call.id + 1), say.callFacts(entry.call.prompt, entry.call.tokens)));
            if (byPerson && play.next === entry) item.querySelector("textarea")?.focus();
        };
        list.replaceChildren();
        cards.clear();
        play.entries.forEach(add);
        play.addEventListener("entry", () => {
            if (!current()) return;
            add(play.entries[play.entries.length - 1]!, play.entries.length - 1);
            controls();
        });
        play.addEventListener("embedded", () => {
            if (current()) session.say(say.embedded(play.nEmbedded));
        });
        play.addEventListener("change", () => {
            const entry = play.changed;
            const item = entry && cards.get(entry);
            if (!current() || !item) return;
            fill(item, entry, byPerson);
            controls();
        });
        play.addEventListener("state", () => {
            if (!current()) return;
            controls();
            if (byPerson && play.next) cards.get(play.next)?.querySelector("textarea")?.focus();
            if (play.state === "running" || finished === play) return;
            finish(play);
            session.say(play.record ? say.ended(say.outcomes[play.record.outcome]) : say.stopped);
        });
    }

    let finished: Play | undefined;
    function finish(play: Play): void {
        finished = play;
        end.replaceChildren(...(play.record ? [ending(play, play.record)] : []));
    }

    function controls(): void {
        const { play } = kept;
        const running = play?.state === "running";
        const person = play?.plan.reader.by === "person";
        // Not `disabled`: that would take the focus from who steps by keyboard.
        const cannot = running && (play.next === undefined || person || play.playing);
        step.setAttribute("aria-disabled", String(cannot));
        run.disabled = running && person;
        run.textContent = running && play.playing ? say.pause : say.play;
        stop.disabled = !running;
        again.disabled = play === undefined || running;
    }

    function show(): void {
        const { play } = kept;
        if (play === undefined) {
            list.replaceChildren();
            cards.clear();
        }
        end.replaceChildren();
        if (play && play.state !== "running") finish(play);
        controls();
    }

    if (kept.play) watch(kept.play);
    show();
    return [make("h3", {}, say.stage), buttons, make("p", { class: "note" }, say.stepHint), list, end];
}
