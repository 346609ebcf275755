// Routes, the language, the lines at the top. Each view is fetched and mounted when it is first shown.

import { byId, make, option } from "./dom.js";
import { Session } from "./session.js";
import { mountShelf } from "./shelf.js";
import * as words from "./words/app.js";
import { LANGUAGES, inLanguage, language, setLanguage, type Language } from "./words/index.js";

type Mount = (section: HTMLElement, session: Session) => void;

const VIEWS: Record<string, () => Promise<{ mount: Mount }>> = {
    lab: () => import("./lab/index.js"),
    theatre: () => import("./theatre/index.js"),
    runs: () => import("./runs/index.js"),
};
/** The views that are about one book. */
const OF_A_BOOK = ["lab", "theatre"];

const session = new Session();
const mounted = new Set<string>();

function shownView(): string {
    const name = location.hash.replace(/^#\//, "").split("/")[0] ?? "";
    return name in VIEWS ? name : "lab";
}

async function show(): Promise<void> {
    const view = shownView();
    for (const name of Object.keys(VIEWS)) byId(name, HTMLElement).hidden = name !== view;
    for (const link of document.querySelectorAll("nav a")) {
        if (link.getAttribute("href") === `#/${view}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    byId("book", HTMLElement).hidden = !OF_A_BOOK.includes(view);
    if (mounted.has(view)) return;
    mounted.add(view);
    await session.attempt(async () => {
        const [{ mount }] = await Promise.all([VIEWS[view]!(), styled(view)]);
        mount(byId(view, HTMLElement), session);
    });
}

/** A view's own style sheet, fetched with it. */
function styled(view: string): Promise<void> {
    const href = `${view}.css`;
    if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
    const link = make("link", { rel: "stylesheet", href });
    return new Promise((resolve, reject) => {
        link.addEventListener("load", () => resolve());
        link.addEventListener("error", () => reject(new Error(inLanguage(words).fetchFailed(href, "404"))));
        document.head.append(link);
    });
}

/** Everything in the chosen language, again where it was in another. */
function speak(): void {
    const say = inLanguage(words);
    document.documentElement.lang = language();
    document.title = say.title;
    byId("skip", HTMLAnchorElement).textContent = say.skip;
    byId("lead", HTMLElement).textContent = say.lead;
    byId("views", HTMLElement).setAttribute("aria-label", say.views);
    byId("language", HTMLSelectElement).setAttribute("aria-label", say.language);
    for (const name of ["lab", "theatre", "runs"] as const) byId(`to-${name}`, HTMLElement).textContent = say[name];
    for (const name of ["book", ...mounted]) {
        const old = byId(name, HTMLElement);
        old.replaceWith(old.cloneNode(false));
    }
    mounted.clear();
    mountShelf(byId("book", HTMLElement), session);
    session.say(session.book === undefined ? say.noBook : say.opened(session.book.name, session.book.facts));
    show();
}

const [status, problem] = [byId("status", HTMLElement), byId("problem", HTMLElement)];
session.addEventListener("status", () => (status.textContent = session.status));
session.addEventListener("problem", () => (problem.textContent = session.problem));

const languages = byId("language", HTMLSelectElement);
languages.append(...Object.entries(LANGUAGES).map(([code, name]) => option(code, name)));
languages.value = language();
languages.addEventListener("change", () => {
    setLanguage(languages.value as Language);
    speak();
});

// A dropped book is opened; what is dropped on the runs is theirs.
document.addEventListener("dragover", (event) => {
    event.preventDefault();
    session.prepare();
    document.body.classList.add("dropping");
});
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const dropped = event.dataTransfer?.files[0];
    if (dropped && OF_A_BOOK.includes(shownView())) session.openFile(dropped);
});
byId("skip", HTMLAnchorElement).addEventListener("click", (event) => {
    // The address is the view's.
    event.preventDefault();
    byId("main", HTMLElement).focus();
});
addEventListener("hashchange", show);
speak();
// Once the page stands: what it needs to work offline.
addEventListener("load", () => navigator.serviceWorker?.register("service.js").catch(() => {}));
