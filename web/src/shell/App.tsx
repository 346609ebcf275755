// The page: the bar at the top, the verbs at the side, one view.

import { useEffect, useRef, useState } from "preact/hooks";
import * as words from "../words/app.js";
import { useApp, useSession, useWords } from "../context.js";
import { Drop } from "./Drop.js";
import { Rail } from "./Rail.js";
import { Toast } from "./Toast.js";
import { Top } from "./Top.js";
import { VIEWS, type ShownView } from "./views.js";

export function App() {
    const session = useSession();
    const say = useWords(words);
    const status = useApp((state) => state.status);
    const { view, shown } = useView();
    const title = useApp(({ book }) => book?.title);
    const problem = useApp((state) => state.problem);
    const unkept = useApp((state) => state.unkept !== "");
    const left = useApp((state) => state.left);
    const notes = [problem, unkept ? say.bookNotKept : "", left.length > 0 ? say.notOpened(left) : ""];
    useEffect(() => {
        const name = view === "essay" ? say.essayTitle : say.verbs[view];
        document.title = [name, ...(view !== "essay" && view !== "runs" && title ? [title] : []), "closeread"].join(" · ");
    }, [view, title, say]);
    const skip = (event: Event) => {
        // The address is the view's.
        event.preventDefault();
        document.getElementById("main")?.focus();
    };
    return (
        <>
            <a id="skip" href="#main" onClick={skip}>
                {say.skip}
            </a>
            <Top />
            <Rail />
            <main id="main" tabIndex={-1} aria-busy={shown === undefined}>
                {shown && <shown.Component key={view} />}
            </main>
            <p id="status" role="status" class="vh">
                {status}
            </p>
            <Toast problem={notes.filter((note) => note !== "").join(" ")} close={() => session.dismiss()} />
            <Drop />
        </>
    );
}

/** The view of the address, once it is there; going to another one moves the focus to its heading. */
function useView() {
    const session = useSession();
    const view = useApp(({ address }) => address.view);
    const [loaded, setLoaded] = useState<{ view: string; shown: ShownView }>();
    const first = useRef(true);
    useEffect(() => {
        let wanted = true;
        void session.attempt(async () => {
            const shown = await VIEWS[view]();
            if (wanted) setLoaded({ view, shown });
        });
        return () => void (wanted = false);
    }, [view]);
    useEffect(() => {
        if (loaded === undefined) return;
        if (!first.current) {
            const heading = document.querySelector<HTMLElement>("main h1, main h2");
            heading?.setAttribute("tabindex", "-1");
            (heading ?? document.getElementById("main"))?.focus({ preventScroll: true });
            scrollTo(0, 0);
        }
        first.current = false;
    }, [loaded]);
    return { view, shown: loaded?.view === view ? loaded.shown : undefined };
}
