// The worker's side of the view "theatre".

import type { Handlers } from "./handlers.js";

export const theatre = {} satisfies Handlers;
