// What the view "theatre" asks of the worker.

import type {
    ChatModelOptions, Heard, MethodBook, MethodCall, MethodItem, MethodOffer, MethodOptions, MethodPreparation,
    MethodRecord, MethodReply, Retrying, TextChange,
} from "../closeread_wasm.js";

/** What is known of the open book besides its bytes. */
export type BookFacts = Omit<MethodBook, "file">;

/** What happens in a run, in order. A call waits until it is answered. */
export type TheatreEvent =
    | { kind: "call"; call: MethodCall }
    | { kind: "prepared"; preparation: MethodPreparation };

/** Who replies to a call. */
export type Answering =
    | { by: "extractive" }
    | { by: "person"; text: string }
    | { by: "model"; model: ChatModelOptions };

/** What came of a call; `changes` is there where the reply is a memory. */
export type Answered =
    | { reply: MethodReply; heard: Heard | undefined; changes: TextChange[] | undefined }
    | { failure: string };

export interface TheatreMessages {
    /** What the methods ask for on the open book. */
    "theatre/methods": { request: { book: BookFacts }; reply: MethodOffer[] };
    /** Runs a method on the open book to its end; a run before it is given up. */
    "theatre/run": {
        request: { book: BookFacts; item: MethodItem; options: MethodOptions };
        reply: MethodRecord;
        event: TheatreEvent;
    };
    /** Answers a call of the run. */
    "theatre/answer": { request: { call: number; answering: Answering }; reply: Answered; event: Retrying };
    /** Texts of passages of the run's book. */
    "theatre/slices": { request: { document: string; start: number; end: number }[]; reply: string[] };
}
