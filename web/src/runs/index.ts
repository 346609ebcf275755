// The run viewer: run folders in, their reports, any trial of them, two compared.

import { button, labelled, make, option } from "../dom.js";
import type { HeldRun } from "../messages/runs.js";
import type { Session } from "../session.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { showCompare } from "./compare.js";
import { chosenFiles, droppedFiles, runFolders, servedRun, servedRuns, type FoundFile, type RunFolder } from "./files.js";
import { showReport } from "./report.js";
import { shownText, visible } from "./text.js";
import { showTrials } from "./trials.js";

/** What stays while the language changes. */
interface Kept {
    runs: HeldRun[];
    current: HeldRun | undefined;
    part: Part;
}

const PARTS = ["report", "trials", "compare"] as const;
type Part = (typeof PARTS)[number];

export function mount(section: HTMLElement, session: Session): void {
    const say = inLanguage(words);
    const kept = (session.kept.get("runs") ?? { runs: [], current: undefined, part: "report" }) as Kept;
    session.kept.set("runs", kept);

    const open = (folders: () => Promise<RunFolder[]>) => session.attempt(async () => {
        session.say(say.reading);
        try {
            const found = await folders();
            if (found.length === 0) throw new Error(say.noRun);
            for (const { name, files } of found) {
                const transfer = files.map(({ content }) => (content as Uint8Array).buffer as ArrayBuffer);
                const run = await session.core.ask("runs/open", { name: unique(name), files }, { transfer });
                kept.runs.push(run);
                kept.current = run;
            }
        } finally {
            session.say("");
            draw();
        }
    });
    const unique = (name: string) => {
        const taken = (candidate: string) => kept.runs.some(({ facts }) => facts.name === candidate);
        let free = name;
        for (let n = 2; taken(free); n++) free = `${name}-${n}`;
        return free;
    };
    const take = (files: () => Promise<FoundFile[]> | FoundFile[]) => open(async () => runFolders(await files()));

    const folder = make("input", { id: "run-folder", type: "file", webkitdirectory: "" });
    folder.addEventListener("change", () => folder.files?.length && take(() => chosenFiles(folder.files!)));
    const files = make("input", { id: "run-files", type: "file", multiple: "" });
    files.addEventListener("change", () => files.files?.length && take(() => chosenFiles(files.files!)));
    section.addEventListener("drop", (event) => event.dataTransfer && take(() => droppedFiles(event.dataTransfer!)));

    const served = make("div", { class: "served" });
    servedRuns().then((names) => served.replaceChildren(...(names.length === 0 ? [] : [
        make("span", { class: "note" }, `${say.served} `),
        ...names.flatMap((name) => [button(visible(name), () => open(async () => [await servedRun(name)]), { class: "served-run" }), " "]),
    ])));

    const which = make("select", { id: "run" });
    which.addEventListener("change", () => {
        kept.current = kept.runs.find(({ id }) => id === Number(which.value));
        draw();
    });
    const choice = labelled(say.openRuns, which);
    const facts = make("p", { class: "facts", id: "run-facts" });
    const tabs = make("div", { role: "group", class: "parts", "aria-label": say.parts });
    const body = make("div", { id: "run-body" });

    const draw = () => {
        choice.hidden = tabs.hidden = facts.hidden = body.hidden = kept.current === undefined;
        if (kept.current === undefined) return;
        const run = kept.current;
        which.replaceChildren(...kept.runs.map(({ id, facts }) => option(String(id), visible(facts.name))));
        which.value = String(run.id);
        facts.replaceChildren(shownText("span", say.facts(run.facts.benchmark, shown(run.facts.items), shown(run.facts.trials))),
            ...run.facts.facts.flatMap(([name, value]) => [" · ", shownText("span", `${name} ${value}`)]),
            ...(run.facts.recordsLeftOut > 0 ? [` · ${say.leftOut(shown(run.facts.recordsLeftOut))}`] : []),
            ...(run.facts.texts === 0 ? [` · ${say.noTexts}`] : []));
        tabs.replaceChildren(...PARTS.map((part) => button(say[part], () => {
            kept.part = part;
            draw();
            tabs.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
        }, { id: `part-${part}`, "aria-pressed": String(part === kept.part) })));
        const place = make("div", { class: `part ${kept.part}` }, make("p", { class: "note" }, say.computing));
        body.replaceChildren(place);
        session.attempt(async () => {
            if (kept.part === "report") await showReport(place, session, run.id);
            else if (kept.part === "trials") await showTrials(place, session, run);
            else showCompare(place, session, kept.runs, run);
        });
    };

    section.replaceChildren(
        make("h2", {}, say.heading), make("p", { class: "note" }, say.lead),
        make("div", { class: "choose" }, labelled(say.folder, folder), labelled(say.files, files), served),
        choice, facts, tabs, body);
    draw();
}
