// The whole window takes what is dropped.

import { useEffect, useState } from "preact/hooks";
import * as words from "../words/app.js";
import { useSession, useWords } from "./context.js";

export function Drop() {
    const session = useSession();
    const say = useWords(words);
    const [over, setOver] = useState(false);
    useEffect(() => {
        const controller = new AbortController();
        const { signal } = controller;
        const enter = (event: DragEvent) => {
            event.preventDefault();
            session.prepare();
            setOver(true);
        };
        const drop = (event: DragEvent) => {
            event.preventDefault();
            setOver(false);
            const dropped = event.dataTransfer?.files[0];
            if (dropped && session.address.view !== "runs") void session.openFile(dropped);
        };
        document.addEventListener("dragover", enter, { signal });
        document.addEventListener("dragleave", (event) => event.relatedTarget === null && setOver(false), { signal });
        document.addEventListener("drop", drop, { signal });
        return () => controller.abort();
    }, [session]);
    return <div class="drop" hidden={!over} aria-hidden="true">{say.drop}</div>;
}
