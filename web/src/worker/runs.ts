// The worker's side of the view "runs".

import type { Handlers } from "./handlers.js";

export const runs = {} satisfies Handlers;
