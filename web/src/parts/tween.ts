// Places that move to where they are wanted, each a little after the one above it; at once under reduced motion.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Milliseconds that a row waits for the one above it. */
const STAGGER = 22;

const ease = (t: number) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/**
 * Where each key stands now on its way to its place in `wanted`. It moves when `occasion` changes; what is new, and every
 * other change, is there at once.
 */
export function useTween(wanted: ReadonlyMap<number, number>, occasion: string): ReadonlyMap<number, number> {
    const [, draw] = useState(0);
    const now = useRef(wanted);
    const before = useRef(occasion);
    useLayoutEffect(() => {
        const moves = before.current !== occasion;
        before.current = occasion;
        const length = moves ? Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--move")) || 0 : 0;
        const from = now.current;
        if (length === 0) {
            now.current = wanted;
            draw(performance.now());
            return;
        }
        const begun = performance.now();
        let frame = requestAnimationFrame(function step(time) {
            const share = (place: number) => Math.min(1, Math.max(0, (time - begun - STAGGER * place) / length));
            now.current = new Map(
                Array.from(wanted, ([key, place]) => {
                    const start = from.get(key) ?? place;
                    return [key, start + (place - start) * ease(share(place))];
                }),
            );
            if (time - begun > length + STAGGER * wanted.size) now.current = wanted;
            else frame = requestAnimationFrame(step);
            draw(time);
        });
        return () => cancelAnimationFrame(frame);
    }, [wanted, occasion]);
    const settled = before.current === occasion && now.current.size !== wanted.size ? wanted : now.current;
    return settled;
}
