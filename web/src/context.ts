// What every component is given: the session, the words, the choice of books.

import { createContext } from "preact";
import { useContext, useEffect, useReducer } from "preact/hooks";
import type { Session, SessionEvent } from "./session.js";
import type { AppState } from "./state/app.js";
import { useStore } from "./state/store.js";
import { inLanguage } from "./words/index.js";

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
    const session = useContext(SessionContext);
    if (session === undefined) throw new Error("a component stands outside of the page");
    return session;
}

/** A part of what the views share; the component follows it. */
export function useApp<T>(select: (state: AppState) => T): T {
    return useStore(useSession().store, select);
}

/** Words in the chosen language; the component follows it. */
export function useWords<T>(words: { en: T; zh: T }): T {
    useApp(({ language }) => language);
    return inLanguage(words);
}

/** Draws the component again after an event of the session. */
export function useEvent(event: SessionEvent): void {
    const session = useSession();
    const [, draw] = useReducer((n: number) => n + 1, 0);
    useEffect(() => {
        const changed = () => draw(0);
        session.addEventListener(event, changed);
        return () => session.removeEventListener(event, changed);
    }, [session, event]);
}

/** Opens the choice of books, from wherever it is wanted. */
export function chooseBook(): void {
    document.querySelector<HTMLDialogElement>("#books")?.showModal();
}
