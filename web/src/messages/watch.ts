// What the views that run methods ask of the worker. Several runs can be under way; each has a number of the page's choice.

import type {
    BothOrders,
    Parsed,
    MethodBook,
    MethodCall,
    Item,
    MethodOffer,
    MethodOptions,
    Preparation,
    Prepared,
    TrialRecord,
    PassageRef,
    ChatReply,
    OrderEffect,
    TextChange,
} from "../closeread_wasm.js";

/** What is known of the open book besides its bytes; of a `part`, its bytes in the file as decoded to UTF-8. */
export type BookFacts = Omit<MethodBook, "file"> & { part?: { start: number; end: number } };

/** What happens in a run, in order. A call waits until it is answered, an embedding until its vectors are there. */
export type WatchEvent =
    | { kind: "call"; call: MethodCall }
    | { kind: "embed"; id: number; role: "query" | "passage"; texts: string[] }
    | { kind: "prepared"; preparation: Preparation<Prepared> };

/** What came of a call: a response, or the error that is how it ended. */
export type Came = { response: ChatReply } | { ended: { name: string; message: string; needed?: number | null; window?: number | null } };

/** What a response was understood as; `changes` are there where it is a memory. */
export interface Understood {
    parsed: Parsed | undefined;
    changes: TextChange[] | undefined;
}

export interface WatchMessages {
    /** What the methods ask for on the open book. */
    "watch/methods": { request: { book: BookFacts }; reply: MethodOffer[] };
    /** Runs a method on the open book to its end. */
    "watch/run": {
        request: { run: number; book: BookFacts; item: Item; options: MethodOptions };
        reply: TrialRecord;
        event: WatchEvent;
    };
    /** Gives a call what came of it. */
    "watch/answer": { request: { run: number; call: number; came: Came }; reply: Understood };
    /** What is answered by counting words. */
    "watch/extractive": { request: { run: number; call: number }; reply: string };
    /** One vector a text of an embedding, or why there are none. */
    "watch/vectors": { request: { run: number; id: number } & ({ vectors: Float32Array[] } | { failure: string }); reply: void };
    /** Texts of passages of a run's book. */
    "watch/slices": { request: { run: number; places: { document: string; start: number; end: number }[] }; reply: string[] };
    /** Where the passages of a call stand, and where the gold evidence does. */
    "watch/places": { request: { run: number; call: number }; reply: { passages: PassageRef[]; evidence: PassageRef[] } };
    /** Forgets a run. */
    "watch/end": { request: { run: number }; reply: void };
    /** What the order of the same passages did to answers. */
    "watch/orders": { request: { questions: BothOrders[] }; reply: OrderEffect };
}
