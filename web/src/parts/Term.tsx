// A term with a dotted line: its one sentence shows on hover, focus and press.

import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { useWords } from "../context.js";
import * as terms from "../words/terms.js";

export function Term({ name, children }: { name: terms.Term; children: ComponentChildren }) {
    const sentence = useWords(terms)[name];
    const id = useId();
    const tip = useRef<HTMLSpanElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    const show = () => {
        const [shown, at] = [tip.current, button.current?.getBoundingClientRect()];
        if (!shown || !at || shown.matches(":popover-open")) return;
        shown.showPopover();
        const { width, height } = shown.getBoundingClientRect();
        const below = at.bottom + 8 + height < innerHeight;
        shown.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
        shown.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - height - 8)}px`;
    };
    const hide = () => tip.current?.matches(":popover-open") && tip.current.hidePopover();
    return (
        <>
            <button
                ref={button}
                type="button"
                class="term"
                aria-describedby={id}
                onClick={show}
                onFocus={show}
                onBlur={hide}
                onPointerEnter={show}
                onPointerLeave={hide}
                onKeyDown={(event) => event.key === "Escape" && hide()}
            >
                {children}
            </button>
            <span ref={tip} id={id} class="tip" role="tooltip" popover="manual">
                {sentence}
            </span>
        </>
    );
}
