// A state that changes by actions alone: `reduce` says how, and is a pure function.

import { useEffect, useReducer, useRef } from "preact/hooks";

export class Store<S, A> {
    #state: S;
    readonly #reduce: (state: S, action: A) => S;
    readonly #listeners = new Set<() => void>();

    constructor(reduce: (state: S, action: A) => S, initial: S) {
        this.#reduce = reduce;
        this.#state = initial;
    }

    get state(): S {
        return this.#state;
    }

    dispatch(action: A): void {
        const next = this.#reduce(this.#state, action);
        if (next === this.#state) return;
        this.#state = next;
        for (const listener of [...this.#listeners]) listener();
    }

    /** Calls `listener` after each change; gives what ends that. */
    subscribe(listener: () => void): () => void {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }
}

/** A part of a store's state; the component is drawn again when the part is another one. */
export function useStore<S, A, T>(store: Store<S, A>, select: (state: S) => T): T {
    const [, draw] = useReducer((n: number) => n + 1, 0);
    const latest = useRef(select);
    latest.current = select;
    const selected = select(store.state);
    const drawn = useRef(selected);
    drawn.current = selected;
    useEffect(() => {
        const changed = () => latest.current(store.state) !== drawn.current && draw(0);
        changed();
        return store.subscribe(changed);
    }, [store]);
    return selected;
}
