// What the view "runs" asks of the worker.

import type {
    CompareOptions,
    NamedFile,
    RunFacts,
    Message,
    ShownComparison,
    ShownReport,
    TracedPassage,
    TrialFilter,
    TrialLine,
    TrialTrace,
} from "../closeread_wasm.js";

/** A run that the worker holds open. */
export interface HeldRun {
    id: number;
    facts: RunFacts;
}

export interface RunsMessages {
    /** Reads the files of a run folder, named by their paths in it. */
    "runs/open": { request: { name: string; files: NamedFile[] }; reply: HeldRun };
    "runs/close": { request: { id: number }; reply: void };
    /** Tables and charts; `style` is what the charts need of a style sheet. */
    "runs/report": { request: { id: number }; reply: { report: ShownReport; style: string } };
    /** What `closeread report --json` prints. */
    "runs/json": { request: { id: number }; reply: string };
    /** Numbers of the trials that a filter leaves. */
    "runs/select": { request: { id: number; filter: TrialFilter }; reply: Uint32Array };
    "runs/lines": { request: { id: number; numbers: Uint32Array }; reply: TrialLine[] };
    "runs/trace": { request: { id: number; number: number }; reply: { trace: TrialTrace; passages: TracedPassage[] } };
    /** The messages of each call, computed again; refused with the reason where that cannot be. */
    "runs/sent": { request: { id: number; number: number }; reply: Message[][] };
    "runs/compare": { request: { a: number; b: number; options: CompareOptions }; reply: ShownComparison[] };
}
