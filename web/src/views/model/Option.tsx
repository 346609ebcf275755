// One model among those that can be chosen, and the sign of a state.

import type { ComponentChildren } from "preact";
import type { Choice } from "../../model/state.js";
import { useSession } from "../../context.js";
import { useStore } from "../../state/store.js";

export function Option({
    choice,
    name,
    about,
    children,
    id,
    choose,
}: {
    choice: Choice;
    name: string;
    about: string;
    children?: ComponentChildren;
    id?: string;
    choose?: () => void;
}) {
    const { models } = useSession();
    const chosen = useStore(models.store, (state) => state.choice);
    const value = keyOf(choice);
    return (
        <div class="option">
            <label>
                <input
                    type="radio"
                    name="model"
                    id={id}
                    value={value}
                    checked={keyOf(chosen) === value}
                    onChange={() => (choose ? choose() : models.choose(choice))}
                />
                <span>
                    <b>{name}</b>
                    <span class="about">{about}</span>
                </span>
            </label>
            {children}
        </div>
    );
}

/** Names a choice. */
export function keyOf(choice: Choice): string {
    switch (choice.source) {
        case "local":
            return `local ${choice.port} ${choice.model}`;
        case "page":
            return `page ${choice.id}`;
        default:
            return choice.source;
    }
}

/** Ready, coming, not there, refused: by shape, and by colour for errors alone. */
export function State({ of, children }: { of: "on" | "part" | "off" | "error"; children: ComponentChildren }) {
    return <span class={`state ${of}`}>{children}</span>;
}
