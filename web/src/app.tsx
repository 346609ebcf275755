// The page starts here.

import { render } from "preact";
import { Session } from "./session.js";
import { App } from "./shell/App.js";
import { SessionContext } from "./context.js";
import { language } from "./words/index.js";

document.documentElement.lang = language();
const session = new Session();
const root = document.getElementById("page")!;
root.replaceChildren();
render(
    <SessionContext.Provider value={session}>
        <App />
    </SessionContext.Provider>,
    root,
);
// Once the page stands: what it needs to work offline.
addEventListener("load", () => navigator.serviceWorker?.register("service.js").catch(() => {}));
