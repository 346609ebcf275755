// The run viewer: run folders in, their reports, any trial of them, two cells compared. Each has an address.

import { useEffect, useRef, useState } from "preact/hooks";
import type { HeldRun } from "../messages/runs.js";
import type { Session } from "../session.js";
import { useApp, useSession, useWords } from "../context.js";
import { addressHash } from "../state/address.js";
import { PARTS, runsAddress, runsTo } from "../state/runs.js";
import { shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { Compare } from "./Compare.js";
import { chosenFiles, runAt, runFolders, servedRun, servedRuns, type FoundFile, type RunFolder } from "./files.js";
import { showReport } from "./report.js";
import { visible } from "./text.js";
import { Trials } from "./Trials.js";

/** A run, and the folder on another server that it was fetched from: one of the same name is another run. */
type OpenRun = HeldRun & { at: string };

/** Runs that could not be opened of which a message speaks. */
const NAMED = 5;

/** Runs that are open, for as long as the page is. */
export function openRuns(session: Session): OpenRun[] {
    const kept = (session.kept.get("runs") as OpenRun[] | undefined) ?? [];
    session.kept.set("runs", kept);
    return kept;
}

export function Runs() {
    const session = useSession();
    const say = useWords(words);
    const address = useApp((state) => state.address);
    const at = runsAddress(address);
    const runs = openRuns(session);
    const [drawn, draw] = useState(0);
    /** Unknown until the server has said which runs it has. */
    const [known, setServed] = useState<string[]>();
    const served = known ?? [];
    // A drop handler keeps the values of the first drawing.
    const addresses = useRef(served);
    addresses.current = served;
    const [reading, setReading] = useState(false);
    /** The address whose run was fetched last: what fails is not fetched again by itself. */
    const tried = useRef({ named: "", done: false });
    const run = runs.find((one) => one.facts.name === at.run && (at.at === "" || one.at === at.at));
    const named = `${at.run} ${at.at}`;
    const isTried = tried.current.named === named && tried.current.done;
    const mayCome = at.at !== "" || known === undefined || served.includes(at.run);
    const isComing = at.run !== "" && !run && (reading || (mayCome && !isTried));

    /** `from` is the folder on another server that they are fetched from. */
    const open = (folders: () => Promise<RunFolder[]>, go: boolean, from = "") =>
        session.attempt(async () => {
            setReading(true);
            session.say(say.reading);
            try {
                const found = await folders();
                if (found.length === 0) throw new Error(say.noRun);
                let last = "";
                const failures: string[] = [];
                // The name of a served run is its address: no other run takes it.
                const reserved = go || from !== "" ? addresses.current : [];
                for (const { name, files } of found) {
                    const free = unique(name, [...reserved, ...runs.map(({ facts }) => facts.name)]);
                    const transfer = files.map(({ content }) => (content as Uint8Array).buffer as ArrayBuffer);
                    try {
                        runs.push({ ...(await session.core.ask("runs/open", { name: free, files }, { transfer })), at: from });
                        last = free;
                    } catch (error) {
                        const message = error instanceof Error ? error.message : String(error);
                        failures.push(found.length > 1 ? `${visible(name)}: ${message}` : message);
                    }
                }
                // The others are in the list of open runs: what a run shows would take the message away.
                if (failures.length > 0) throw new Error(failures.slice(0, NAMED).join("; "));
                if (go) session.go({ view: "runs", path: [last] });
                // Its name was taken.
                else if (last !== at.run && session.address === address) session.go({ ...address, path: [last, ...address.path.slice(1)] }, "replace");
            } finally {
                setReading(false);
                session.say("");
                draw((n) => n + 1);
            }
        });
    const take = (files: () => Promise<FoundFile[]> | FoundFile[]) => open(async () => runFolders(await files()), true);

    useEffect(() => void servedRuns().then(setServed), []);
    // What was dropped anywhere in the window, and a run that the address names.
    useEffect(() => {
        const dropped = (event: Event) => void take(() => (event as CustomEvent<Promise<FoundFile[]>>).detail);
        document.addEventListener("run-dropped", dropped);
        const waiting = session.kept.get("run-dropped") as Promise<FoundFile[]> | undefined;
        session.kept.delete("run-dropped");
        if (waiting) void take(() => waiting);
        return () => document.removeEventListener("run-dropped", dropped);
    }, []);
    useEffect(() => {
        if (tried.current.named !== named) tried.current = { named, done: false };
        if (at.run === "" || run || reading || tried.current.done || (at.at === "" && !served.includes(at.run))) return;
        tried.current.done = true;
        if (at.at !== "") void open(async () => [await runAt(at.run, at.at)], false, at.at);
        else void open(async () => [await servedRun(at.run)], false);
    }, [at.run, at.at, known, reading, drawn]);
    /** The address of a run that was not fetched stays as it is when its link is followed again. */
    const retry = (name: string) => {
        if (run || reading || at.run !== name) return;
        tried.current.done = false;
        draw((n) => n + 1);
    };

    const files = (id: string, attributes: object, label: string) => (
        <div class="field">
            <label class="button" for={id}>
                {label}
            </label>
            <input
                id={id}
                class="vh"
                type="file"
                {...attributes}
                onChange={(event) => {
                    // The list is live: it empties with the field.
                    const chosen = chosenFiles(event.currentTarget.files!);
                    if (chosen.length > 0) void take(() => chosen);
                    event.currentTarget.value = "";
                }}
            />
        </div>
    );
    return (
        <section id="runs" aria-labelledby="runs-heading">
            <h1 id="runs-heading">{run ? visible(run.facts.name) : say.heading}</h1>
            {!run && <p class="lead serif">{say.lead.split("`").map((part, n) => (n % 2 === 1 ? <code>{part}</code> : part))}</p>}
            <div class="openers">
                {files("run-folder", { webkitdirectory: true }, say.folder)}
                {files("run-files", { multiple: true }, say.files)}
                {!run && <span class="mute">{say.orDrop}</span>}
                {runs.length > 0 && (
                    <p class="field">
                        <label for="run" class="vh">
                            {say.openRuns}
                        </label>
                        <select id="run" value={run?.facts.name ?? ""} onChange={(event) => session.go({ view: "runs", path: [event.currentTarget.value] })}>
                            {!run && <option value="">{say.openRuns}</option>}
                            {runs.map(({ id, facts }) => (
                                <option key={id} value={facts.name}>
                                    {visible(facts.name)}
                                </option>
                            ))}
                        </select>
                    </p>
                )}
            </div>
            {served.length > 0 && (
                <p class="served">
                    <span class="mute">{say.served}</span>{" "}
                    {served.map((name) => (
                        <a key={name} class="served-run" href={addressHash({ view: "runs", path: [name] })} onClick={() => retry(name)}>
                            {visible(name)}
                        </a>
                    ))}
                </p>
            )}
            {isComing && (
                <p class="note" id="run-coming">
                    {say.reading}
                </p>
            )}
            {at.run !== "" && !run && !isComing && (
                <p class="note" id="no-run">
                    {say.notOpen(visible(at.run))}
                </p>
            )}
            {run && (
                <>
                    <p class="facts foreign" id="run-facts">
                        {say.facts(visible(run.facts.benchmark), shown(run.facts.items), shown(run.facts.trials))}
                        {run.facts.facts.map(([name, value]) => ` · ${visible(name)} ${visible(value)}`)}
                        {run.facts.recordsLeftOut > 0 && ` · ${say.leftOut(shown(run.facts.recordsLeftOut))}`}
                        {run.facts.texts === 0 && ` · ${say.noTexts}`}
                    </p>
                    <nav class="parts" aria-label={say.parts}>
                        {PARTS.map((part) => (
                            <a
                                key={part}
                                id={`part-${part}`}
                                href={addressHash(runsTo({ ...at, part, trial: undefined, filter: {} }))}
                                aria-current={part === at.part ? "page" : undefined}
                            >
                                {say[part]}
                            </a>
                        ))}
                    </nav>
                    <div id="run-body" key={run.id}>
                        {at.part === "report" ? (
                            <ReportPart run={run} />
                        ) : at.part === "trials" ? (
                            <Trials run={run} at={at} />
                        ) : (
                            <Compare runs={runs} first={run} />
                        )}
                    </div>
                </>
            )}
        </section>
    );
}

/** Tables and charts, which the core draws. */
function ReportPart({ run }: { run: HeldRun }) {
    const session = useSession();
    const say = useWords(words);
    const language = useApp((state) => state.language);
    const place = useRef<HTMLDivElement>(null);
    useEffect(() => void session.attempt(() => showReport(place.current!, session, run)), [run, language]);
    return (
        <div class="part report" ref={place} key={language}>
            <p class="note">{say.computing}</p>
        </div>
    );
}

function unique(name: string, taken: readonly string[]): string {
    let free = name;
    for (let n = 2; taken.includes(free); n++) free = `${name}-${n}`;
    return free;
}
