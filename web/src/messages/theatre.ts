// What the view "theatre" asks of the worker.

import type {
    ChatModelOptions, Heard, MethodBook, MethodCall, MethodItem, MethodOffer, MethodOptions, MethodPreparation,
    MethodRecord, MethodResponse, Retrying, TextChange,
} from "../closeread_wasm.js";

/** What is known of the open book besides its bytes. */
export type BookFacts = Omit<MethodBook, "file">;

/** What happens in a run, in order. A call waits until it is answered, an embedding until its vectors are there. */
export type TheatreEvent =
    | { kind: "call"; call: MethodCall }
    | { kind: "embed"; id: number; role: "query" | "passage"; texts: string[] }
    | { kind: "prepared"; preparation: MethodPreparation };

/** Who replies to a call. */
export type Answering =
    | { by: "extractive" }
    | { by: "person"; text: string }
    | { by: "model"; model: ChatModelOptions };

/** What came of a call; `changes` is there where the response is a memory. */
export type Answered =
    | { response: MethodResponse; heard: Heard | undefined; changes: TextChange[] | undefined }
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
    /** One vector a text of an embedding of the run, or why there are none. */
    "theatre/vectors": { request: { id: number; vectors: Float32Array[] } | { id: number; failure: string }; reply: void };
    /** Texts of passages of the run's book. */
    "theatre/slices": { request: { document: string; start: number; end: number }[]; reply: string[] };
}
