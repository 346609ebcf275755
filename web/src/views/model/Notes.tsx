// What must be known to read the answers of some models.

import { useSession, useWords } from "../../context.js";
import { useStore } from "../../state/store.js";
import { shown } from "../../words/index.js";
import * as words from "../../words/model.js";

/** Of the models that answered, as records name them. */
export function Notes({ readers }: { readers: readonly string[] }) {
    const { models } = useSession();
    const say = useWords(words);
    const constrain = useStore(models.store, (state) => state.constrain);
    const held = constrain && readers.some((name) => /^(wllama|llama-server)\//.test(name));
    return (
        <>
            {readers.length > 1 && <p class="mute small">{say.severalReaders(readers.join(", "))}</p>}
            {readers.includes("chrome/built-in") && <p class="mute small">{say.chromeSeed}</p>}
            {held && <p class="mute small">{say.held}</p>}
        </>
    );
}

/** Tokens that the core keeps free for a response without a limit. */
const ASSUMED = 1024;

/** Said before anything is sent: passages of this budget do not fit the chosen model. */
export function Fits({ budget }: { budget: number }) {
    const { models } = useSession();
    const say = useWords(words);
    useStore(models.store, (state) => state);
    const { window, maxOutputTokens = ASSUMED } = models.facts ?? {};
    const fits = window === undefined || budget + maxOutputTokens < window;
    return fits ? null : (
        <p class="problem small" role="status">
            {say.tooLarge(shown(budget), shown(maxOutputTokens), shown(window))}
        </p>
    );
}
