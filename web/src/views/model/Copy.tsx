// A button that copies a text.

import { useState } from "preact/hooks";
import { useSession, useWords } from "../../context.js";
import * as words from "../../words/model.js";

export function Copy({ text, label }: { text: string; label?: string }) {
    const session = useSession();
    const say = useWords(words);
    const [done, setDone] = useState(false);
    const copy = () =>
        session.attempt(async () => {
            await session.copy(text);
            setDone(true);
            session.say(say.copied);
            setTimeout(() => setDone(false), 2000);
        });
    return (
        <button type="button" class="quiet small copy" aria-label={label} onClick={copy}>
            {done ? say.copied : say.copy}
        </button>
    );
}
