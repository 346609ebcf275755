// Whoever leaves the page while a model is asked loses answers that may have cost money.

import type { Store } from "../state/store.js";

/** Has the browser ask whether to leave for as long as `going` says so, whatever view is shown. */
export function warnLeaving<S, A>(store: Store<S, A>, going: (state: S) => boolean): void {
    const hold = (event: BeforeUnloadEvent) => event.preventDefault();
    store.subscribe(() => (going(store.state) ? addEventListener("beforeunload", hold) : removeEventListener("beforeunload", hold)));
}
