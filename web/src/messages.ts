// What the page and the worker say to each other. A view adds its kinds in `messages/<view>.ts`.

import type { BookMessages } from "./messages/book.js";
import type { LabMessages } from "./messages/lab.js";
import type { ModelMessages } from "./messages/model.js";
import type { RunsMessages } from "./messages/runs.js";
import type { WatchMessages } from "./messages/watch.js";

/** Each kind of request with its reply, and what the worker tells meanwhile (`event`, where there is such). */
export interface Messages extends BookMessages, LabMessages, ModelMessages, WatchMessages, RunsMessages {}

export type Kind = keyof Messages;
export type Asked<K extends Kind> = Messages[K] extends { request: infer R } ? R : never;
export type Replied<K extends Kind> = Messages[K] extends { reply: infer R } ? R : never;
export type Told<K extends Kind> = Messages[K] extends { event: infer E } ? E : never;

/** From the page. `cancel` ends the request of that id. */
export type Request = { id: number; kind: Kind; request: unknown } | { id: number; cancel: true };

/** From the worker: events of a request, then one reply. */
export type Reply = { id: number; event: unknown } | { id: number; ok: true; value: unknown } | { id: number; ok: false; name: string; message: string };
