// The whole window takes what is dropped.

import { useLayoutEffect, useState } from "preact/hooks";
import { droppedFiles, looksLikeRun, type FoundFile } from "../runs/files.js";
import * as words from "../words/app.js";
import { useSession, useWords } from "../context.js";

export function Drop() {
    const session = useSession();
    const say = useWords(words);
    const [over, setOver] = useState(false);
    // Before the first paint: a book may be dropped at once.
    useLayoutEffect(() => {
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
            const transfer = event.dataTransfer;
            if (!transfer) return;
            if (looksLikeRun(transfer)) return dropRun(droppedFiles(transfer));
            const [first, ...others] = transfer.files;
            if (first === undefined) return;
            take(first);
            session.leave(others.map(({ name }) => name));
        };
        const take = (file: File) => {
            if (file.name.toLowerCase().endsWith(".gguf")) {
                session.go({ ...session.address, view: "model", path: [] });
                return void session.attempt(() => session.models.keepFile(file));
            }
            // A book that is dropped on a run is opened where books are.
            if (session.address.view === "runs") session.go({ view: "find" });
            void session.openFile(file);
        };
        // The entries are gone once the event is over: they are read now, and handed to the viewer when it is there.
        const dropRun = (files: Promise<FoundFile[]>) => {
            if (document.getElementById("runs")) return document.dispatchEvent(new CustomEvent("run-dropped", { detail: files }));
            session.kept.set("run-dropped", files);
            session.go({ view: "runs" });
        };
        document.addEventListener("dragover", enter, { signal });
        document.addEventListener("dragleave", (event) => event.relatedTarget === null && setOver(false), { signal });
        document.addEventListener("drop", drop, { signal });
        return () => controller.abort();
    }, [session]);
    return (
        <div class="drop" hidden={!over} aria-hidden="true">
            {say.drop}
        </div>
    );
}
