// The budget of passages, as a number that is typed: what is none yet changes nothing.

import { useLayoutEffect, useState } from "preact/hooks";
import { useSession } from "../context.js";

export function Budget({ label, budget }: { label: string; budget: number }) {
    const session = useSession();
    const [typed, setTyped] = useState(String(budget));
    // Before anything can be typed: later it would undo what was.
    useLayoutEffect(() => setTyped((text) => (Number(text) === budget ? text : String(budget))), [budget]);
    // At once, not when the field is left: what then comes or goes would move a button from under the pointer that presses it.
    const type = (text: string) => {
        setTyped(text);
        if (/^[1-9]\d*$/.test(text)) session.put({ k: text }, "replace");
    };
    return (
        <p class="field">
            <label for="budget">{label}</label>
            <input
                id="budget"
                type="number"
                min="1"
                step="1"
                value={typed}
                onInput={(event) => type(event.currentTarget.value)}
                onBlur={() => setTyped(String(budget))}
            />
        </p>
    );
}
