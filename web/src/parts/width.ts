// How wide a figure is: it is drawn anew when that changes, so that its letters keep their size.

import { useLayoutEffect, useState } from "preact/hooks";

/** CSS pixels, no fewer than a small phone has. */
export function useWidth(figure: { current: HTMLElement | null }): number {
    const [width, setWidth] = useState(640);
    useLayoutEffect(() => {
        const measure = () => setWidth(Math.max(280, Math.floor(figure.current!.clientWidth)));
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(figure.current!);
        return () => observer.disconnect();
    }, []);
    return width;
}
