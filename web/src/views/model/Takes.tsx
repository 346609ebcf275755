// How long something will take with the chosen model, before it is begun.

import { useSession, useWords } from "../../context.js";
import { useStore } from "../../state/store.js";
import { shown } from "../../words/index.js";
import * as modelWords from "../../words/model.js";
import * as words from "../../words/watch.js";

/** Tokens of a response of usual length. */
const RESPONSE = 60;
/** From so many tokens on it is worth to read a part of the book first. */
const MANY = 20_000;

interface Props {
    calls: { low: number; high: number };
    tokens: number;
    /** Reads a chapter in the book's place, where there are chapters. */
    part?: (() => void) | undefined;
}

export function Takes({ calls, tokens, part }: Props) {
    const { models } = useSession();
    const say = useWords(words);
    const modelSay = useWords(modelWords);
    const { choice, speeds } = useStore(models.store, (state) => state);
    if (choice.source === "words" || choice.source === "person") return <p class="takes mute num">{say.takes(calls, shown(tokens))}</p>;
    const speed = speeds[models.facts?.name ?? ""];
    const seconds = speed?.read && speed.written ? tokens / speed.read + (calls.high * RESPONSE) / speed.written : undefined;
    return (
        <p class="takes num">
            {say.takes(calls, shown(tokens))} {seconds !== undefined ? say.time(modelSay.seconds(seconds)) : say.timeUnknown}
            {part && tokens > MANY && (
                <>
                    {" "}
                    <button type="button" id="a-part" onClick={part}>
                        {say.readAChapter}
                    </button>
                </>
            )}
        </p>
    );
}
