// The worker's side of the view "lab".

import type { Handlers } from "./handlers.js";

export const lab = {} satisfies Handlers;
