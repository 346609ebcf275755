// What went wrong, at the foot of the window, wherever the reader is.

import * as words from "../words/app.js";
import { useWords } from "../context.js";

export function Toast({ problem, close }: { problem: string; close: () => void }) {
    const say = useWords(words);
    return (
        <div class="toast" hidden={problem === ""} onKeyDown={(event) => event.key === "Escape" && close()}>
            <p id="problem" role="alert">
                {problem}
            </p>
            <button type="button" class="quiet" onClick={close}>
                {say.close}
            </button>
        </div>
    );
}
