// @ts-check
/// <reference path="./words.js" />
/// <reference path="./dom.js" />
// The page on which people answer, judge and label: one file that works from a disk and sends nothing anywhere. The study is the
// JSON in #asked (core/judges/src/study); what a person says is saved as the file that `closeread people read` takes.

/**
 * @typedef {{ state: "answered" | "gave_up" | "timed_out", label?: string, text?: string, seconds: number, note?: string }} Said
 * @typedef {{ as: keyof Words["parts"], text: string }} Shown
 * @typedef {{ id: string, asks: keyof Words["asks"], language?: string, shows: Shown[], options?: string[], texts?: { title: string, path: string }[] }} Unit
 * @typedef {{ id: string, title: string, minutes?: number, units: Unit[] }} Study
 */

/** @type {Study} */
const study = JSON.parse(byId("asked").textContent ?? "");
const KEY = `closeread-study-${study.id}`;
const LAST_CALL = 300;

/** What the person said, how long open units have taken so far, and as whose the answers were saved. @type {{ rater: string, answers: Record<string, Said>, spent: Record<string, number>, drafts: Record<string, Said>, saved: string }} */
const state = { rater: "", answers: {}, spent: {}, drafts: {}, saved: "" };
try {
    Object.assign(state, JSON.parse(localStorage.getItem(KEY) ?? "{}"));
} catch {
    /* what was kept is not readable, or a browser keeps nothing for files: begin anew */
}

let words = navigator.language.toLowerCase().startsWith("zh") ? WORDS_ZH : WORDS_EN;
let at = Math.max(
    0,
    study.units.findIndex(({ id }) => !(id in state.answers)),
);
/** When the open unit was begun or gone on with; none while the clock stands. @type {number | undefined} */
let since;
/** Whether the unit is in sight: one by the clock is hidden until it is begun. */
let running = false;

/** Units that were answered or drafted in this window: of all others, what another window of the page has kept counts. @type {Set<string>} */
const mine = new Set();

/** Takes over what another window of the page has kept since this one was opened. */
function takeOver() {
    /** @type {Partial<typeof state>} */
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    for (const name of /** @type {const} */ (["answers", "drafts"])) {
        for (const [id, said] of Object.entries(kept[name] ?? {})) if (!mine.has(id)) state[name][id] = said;
    }
    for (const id of Object.keys(state.answers)) if (!mine.has(id)) delete state.drafts[id];
    for (const [id, spent] of Object.entries(kept.spent ?? {})) state.spent[id] = Math.max(spent, state.spent[id] ?? 0);
}

function keep() {
    try {
        takeOver();
    } catch {
        /* as at the beginning */
    }
    try {
        localStorage.setItem(KEY, JSON.stringify(state));
    } catch {
        /* then it lives as long as the page */
    }
}

/** @param {string} text */
const say = (text) => {
    byId("said").textContent = text;
};

/** The unit that is shown. @returns {Unit} */
const current = () => /** @type {Unit} */ (study.units[at]);

/** @param {Unit} unit */
const isTimed = (unit) => unit.asks === "answer";

/** Seconds that a unit has been open. @param {Unit} unit */
function seconds(unit) {
    const open = running && since !== undefined ? (performance.now() - since) / 1000 : 0;
    return (state.spent[unit.id] ?? 0) + open;
}

/** Stops the clock, if it goes. */
function halt() {
    if (running) state.spent[current().id] = seconds(current());
    running = false;
    since = undefined;
    keep();
}

function go() {
    running = true;
    since = performance.now();
}

/** @param {number} total */
function time(total) {
    const whole = Math.max(0, Math.floor(total));
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** What is written or ticked now. @returns {Said} */
function collected() {
    const unit = current();
    const form = /** @type {HTMLFormElement} */ (byId("asked"));
    const data = new FormData(form);
    const label = String(data.get("label") ?? "");
    const text = String(data.get("text") ?? "").trim();
    const note = String(data.get("note") ?? "").trim();
    /** @type {Said} */
    const said = { state: label === "unsure" ? "gave_up" : "answered", seconds: Math.round(seconds(unit) * 10) / 10 };
    if (label !== "" && label !== "unsure") said.label = label;
    if (text !== "") said.text = text;
    if (note !== "") said.note = note;
    return said;
}

/** @param {Said["state"]} ended */
function end(ended) {
    const unit = current();
    const said = collected();
    mine.add(unit.id);
    halt();
    const { label: _label, text: _text, ...rest } = said;
    state.answers[unit.id] = ended === "answered" ? said : { ...rest, state: ended };
    delete state.drafts[unit.id];
    keep();
    show(false);
    say(words.clock.ends[ended]);
    byId("next").focus();
}

function finish() {
    const { label, text } = collected();
    if (label === undefined && text === undefined) say(words.clock.needsAnswer);
    else end("answered");
}

/** What was said without a clock counts as soon as it is said. */
function changed() {
    const unit = current();
    mine.add(unit.id);
    if (isTimed(unit)) {
        state.drafts[unit.id] = collected();
    } else {
        const said = collected();
        const kept = said.label !== undefined || said.state === "gave_up" ? state.answers : state.drafts;
        delete state.drafts[unit.id];
        kept[unit.id] = said;
    }
    keep();
    progress();
}

function progress() {
    const n = study.units.filter(({ id }) => id in state.answers).length;
    byId("done").textContent = words.done(n, study.units.length);
}

function tick() {
    const clock = document.getElementById("clock");
    if (!clock || !running) return;
    const spent = seconds(current());
    const limit = study.minutes === undefined ? undefined : study.minutes * 60;
    clock.textContent = limit === undefined ? words.clock.spent(time(spent)) : words.clock.left(time(limit - spent));
    if (limit === undefined) return;
    if (spent >= limit) end("timed_out");
    else if (limit > LAST_CALL && limit - spent < LAST_CALL && limit - spent > LAST_CALL - 1.5) say(words.clock.fewLeft);
}

/** @param {Unit} unit @returns {Record<string, string>} */
const languageOf = ({ language }) => (language ? { lang: language } : {});

/** @param {Unit} unit */
function shownParts(unit) {
    return unit.shows.map(({ as, text }) => {
        const paragraphs = text
            .split("\n")
            .filter((line) => line.trim() !== "")
            .map((line) => make("p", { dir: "auto" }, line));
        const quote = make("blockquote", languageOf(unit), ...paragraphs);
        if (as === "excerpt") {
            for (const [name, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": words.parts.excerpt, class: "long" })) {
                quote.setAttribute(name, value);
            }
        }
        return make("div", { class: "part" }, make("h3", {}, words.parts[as]), quote);
    });
}

/** @param {Unit} unit @param {Said | undefined} said @param {boolean} locked */
function fields(unit, said, locked) {
    /** @type {[string, string][]} */
    const choices =
        unit.asks === "answer"
            ? (unit.options ?? []).map((option, n) => [String(n), option])
            : [...labelsOf(unit.asks).map((name) => /** @type {[string, string]} */ ([name, words.labels[name]])), ["unsure", words.cannotSay]];
    const set = make("fieldset", {}, make("legend", {}, words.asks[unit.asks]));
    if (choices.length === 0) {
        const area = make("textarea", { name: "text", rows: "3", "aria-label": words.asks.answer });
        area.value = said?.text ?? "";
        set.append(area);
    }
    const ticked = said?.state === "gave_up" ? "unsure" : said?.label;
    for (const [value, text] of choices) {
        const input = make("input", { type: "radio", name: "label", value });
        input.checked = value === ticked;
        const lang = unit.asks === "answer" ? languageOf(unit) : {};
        set.append(make("label", {}, input, " ", make("span", { dir: "auto", ...lang }, text)));
    }
    const note = make("input", { type: "text", name: "note", autocomplete: "off" });
    note.value = said?.note ?? "";
    set.append(make("label", { class: "note" }, `${words.note} `, note));
    set.disabled = locked;
    return set;
}

/** @param {keyof Words["asks"]} asks @returns {(keyof Words["labels"])[]} */
function labelsOf(asks) {
    if (asks === "correctness") return ["correct", "incorrect"];
    if (asks === "fault") return ["hallucination-setting", "hallucination-narration", "overlooking", "miscounting", "other"];
    return ["yes", "no"];
}

/** @param {string} id @param {string} text @param {() => void} act */
function button(id, text, act) {
    const made = make("button", { type: "button", id }, text);
    made.addEventListener("click", act);
    return made;
}

/** The clock and what can be done with it. @param {Unit} unit @param {boolean} ended */
function timing(unit, ended) {
    const box = make("div", { class: "timing" });
    if (ended) return box;
    if (!running) {
        const begun = (state.spent[unit.id] ?? 0) > 0;
        const rule = study.minutes === undefined ? words.clock.noLimit : words.clock.limit(study.minutes);
        box.append(make("p", {}, begun ? words.clock.paused : rule));
        box.append(
            button("go", begun ? words.clock.goOn : words.clock.start, () => {
                go();
                show(true);
            }),
        );
        return box;
    }
    box.append(
        make("p", {}, make("span", { id: "clock", role: "timer" })),
        button("finish", words.clock.finish, finish),
        button("pause", words.clock.pause, () => {
            halt();
            show(false);
            byId("go").focus();
        }),
        button("give-up", words.clock.giveUp, () => {
            if (confirm(words.clock.sureToGiveUp)) end("gave_up");
        }),
    );
    return box;
}

/** @param {boolean} focus */
function show(focus) {
    const unit = current();
    const said = state.answers[unit.id];
    const ended = isTimed(unit) && said !== undefined;
    if (!isTimed(unit) && !running) go();
    const heading = make("h2", { tabindex: "-1", id: "heading" }, words.place(at + 1, study.units.length));
    const place = byId("unit");
    const visible = !isTimed(unit) || running || ended;
    const form = make("form", { id: "asked" });
    if (visible) {
        form.append(...shownParts(unit));
        const links = (unit.texts ?? []).map(({ title, path }) => make("li", {}, make("a", { href: path, target: "_blank", rel: "noopener" }, title)));
        if (links.length > 0) form.append(make("details", { open: "" }, make("summary", {}, words.texts), make("ul", {}, ...links)));
        form.append(fields(unit, said ?? state.drafts[unit.id], ended));
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", changed);
    place.replaceChildren(heading, form);
    if (isTimed(unit)) place.append(timing(unit, ended));
    if (ended) place.append(make("p", {}, words.clock.ends[said.state]));
    for (const [id, off] of /** @type {[string, boolean][]} */ ([
        ["previous", at === 0],
        ["next", at === study.units.length - 1],
    ])) {
        /** @type {HTMLButtonElement} */ (byId(id)).disabled = off;
    }
    progress();
    tick();
    say("");
    if (focus) heading.focus();
}

/** @param {number} to */
function turn(to) {
    halt();
    at = Math.min(study.units.length - 1, Math.max(0, to));
    show(true);
}

function save() {
    const rater = state.rater.trim();
    if (rater === "") {
        say(words.needsName);
        byId("rater").focus();
        return;
    }
    // Answers of the person before would count as those of two.
    if (!["", rater].includes(state.saved) && !confirm(words.savedAs(state.saved))) return;
    state.saved = rater;
    halt();
    const { answers } = state;
    const name = `answers-${study.id}-${rater.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`;
    saveJson(name, { study: study.id, rater, answers });
    show(false);
    say(words.saved(name));
}

/** The next person at this browser begins with an empty page. */
function another() {
    if (!confirm(words.sureOfAnother)) return;
    try {
        localStorage.removeItem(KEY);
    } catch {
        /* then nothing was kept */
    }
    beginAnew();
    show(true);
}

/** Forgets what was said in this window. */
function beginAnew() {
    running = false;
    since = undefined;
    mine.clear();
    Object.assign(state, { rater: "", answers: {}, spent: {}, drafts: {}, saved: "" });
    rater.value = "";
    at = 0;
}

/** Writes the words that stand around the units. */
function dress() {
    document.documentElement.lang = words === WORDS_ZH ? "zh" : "en";
    document.title = study.title;
    byId("title").textContent = study.title;
    for (const name of /** @type {const} */ (["skip", "lead", "previous", "next", "save", "another"])) byId(name).textContent = words[name];
    byId("first-open").textContent = words.firstOpen;
    byId("language-label").textContent = words.language;
    byId("rater-label").textContent = words.rater;
}

const rater = /** @type {HTMLInputElement} */ (byId("rater"));
rater.value = state.rater;
rater.addEventListener("input", () => {
    state.rater = rater.value;
    keep();
});
const language = /** @type {HTMLSelectElement} */ (byId("language"));
language.value = words === WORDS_ZH ? "zh" : "en";
language.addEventListener("change", () => {
    words = language.value === "zh" ? WORDS_ZH : WORDS_EN;
    dress();
    show(false);
});
byId("previous").addEventListener("click", () => turn(at - 1));
byId("next").addEventListener("click", () => turn(at + 1));
byId("first-open").addEventListener("click", () => {
    const open = study.units.findIndex(({ id }) => !(id in state.answers));
    turn(open < 0 ? at : open);
});
byId("save").addEventListener("click", save);
byId("another").addEventListener("click", another);
// Another window of the page begins with the next person: what stands here is of the one before.
window.addEventListener("storage", ({ key, newValue }) => {
    if (key !== KEY || newValue !== null) return;
    beginAnew();
    show(false);
});
// A page that is closed or put away is not read: the clock of what is open is written down.
document.addEventListener("visibilitychange", () => {
    if (document.hidden && running) {
        state.spent[current().id] = seconds(current());
        since = performance.now();
        keep();
    }
});
setInterval(tick, 500);
dress();
show(false);
