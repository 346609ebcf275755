// What the worker does for a request.

import type { Asked, Kind, Replied, Told } from "../messages.js";

export interface Call<K extends Kind> {
    /** Tells the page something before the response. */
    tell(event: Told<K>): void;
    /** Aborted when the page no longer wants the response. */
    signal: AbortSignal;
    /** What of the response is handed over instead of copied. */
    transfer: Transferable[];
}

export type Handler<K extends Kind> = (request: Asked<K>, call: Call<K>) => Replied<K> | Promise<Replied<K>>;

export type Handlers = { [K in Kind]?: Handler<K> };
