// The drawer "How": the ranking and what it takes, each with its default.

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Embedding, Compute } from "../encoder/embedding.js";
import { SHIPPED, ownModel, shipped } from "../encoder/model.js";
import type { Retriever } from "../messages/lab.js";
import { Term } from "../parts/Term.js";
import { useEvent, useSession, useWords } from "../context.js";
import { DEFAULTS, type Settings } from "../state/find.js";
import * as words from "../words/find.js";
import { embeddingOf } from "./retrieval.js";

export function How({ settings, put }: { settings: Settings; put: (change: Partial<Settings>) => void }) {
    const session = useSession();
    const say = useWords(words);
    const embedding = embeddingOf(session);
    const [compute, setCompute] = useState<Compute>(embedding.compute);
    return (
        <details class="how" id="how">
            <summary>
                <span>{say.how}</span> <span class="mute">{say.howNow(settings.retriever, settings.neighbours)}</span>
            </summary>
            <div class="how-fields">
                <fieldset>
                    <legend>
                        <Term name={settings.retriever === "bm25" ? "bm25" : settings.retriever}>{say.retriever}</Term>
                    </legend>
                    {(["bm25", "dense", "hybrid"] as const).map((name: Retriever) => (
                        <label key={name} class="tick">
                            <input
                                type="radio"
                                name="retriever"
                                id={`retriever-${name}`}
                                value={name}
                                checked={settings.retriever === name}
                                onChange={() => put({ retriever: name })}
                            />
                            {say.retrievers[name]}
                            {name === DEFAULTS.retriever && <small> {say.standard}</small>}
                        </label>
                    ))}
                </fieldset>
                <div class="field">
                    <label for="neighbours">{say.neighbours}</label>
                    <select id="neighbours" value={String(settings.neighbours)} onChange={(event) => put({ neighbours: Number(event.currentTarget.value) })}>
                        {[0, 1, 2, 3].map((n) => (
                            <option key={n} value={n}>
                                {say.neighboursOf(n)}
                            </option>
                        ))}
                    </select>{" "}
                    <Term name="neighbours">?</Term>
                </div>
                <div class="field">
                    <label for="compute">{say.compute}</label>
                    <select
                        id="compute"
                        value={compute}
                        onChange={(event) => {
                            embedding.compute = event.currentTarget.value as Compute;
                            setCompute(embedding.compute);
                        }}
                    >
                        {Object.entries(say.computes).map(([name, text]) => (
                            <option key={name} value={name}>
                                {text}
                            </option>
                        ))}
                    </select>{" "}
                    <Term name="runsOn">?</Term>
                </div>
                <Model />
            </div>
            <Progress embedding={embedding} />
        </details>
    );
}

/** Which model embeds: the one that ships, or the reader's own files. */
function Model() {
    const session = useSession();
    const say = useWords(words);
    useEvent("model");
    const { model } = session;
    const [name, setName] = useState(SHIPPED);
    useEffect(
        () =>
            void session.attempt(async () => {
                setName(model === shipped ? SHIPPED : (await session.core.ask("lab/model", { toml: (await model.describe()).toml })).name);
            }),
        [model],
    );
    const take = (event: Event) =>
        session.attempt(async () => {
            const own = await ownModel([...(event.currentTarget as HTMLInputElement).files!], say.lacksFiles);
            // A description that is none is said before anything is embedded by it.
            await session.core.ask("lab/model", { toml: (await own.describe()).toml });
            session.model = own;
        });
    return (
        <details>
            <summary id="embedding-model">{say.embeddingModel(name)}</summary>
            <div class="field">
                <label class="button" for="model-files">
                    {say.ownModel}
                </label>
                <input id="model-files" class="vh" type="file" multiple accept=".toml,.json,.onnx" aria-describedby="model-hint" onChange={take} />
                {model !== shipped && (
                    <button type="button" id="shipped-model" onClick={() => (session.model = shipped)}>
                        {say.backToShipped(SHIPPED)}
                    </button>
                )}
            </div>
            <p class="note" id="model-hint">
                {say.ownModelHint}
            </p>
        </details>
    );
}

/** Milliseconds between two announcements to a screen reader. */
const ANNOUNCED = 5000;

/** What the encoder is doing, with the time that is left; it pauses and goes on. */
function Progress({ embedding }: { embedding: Embedding }) {
    const say = useWords(words);
    const [, draw] = useReducer((n: number) => n + 1, 0);
    const spoken = useRef({ at: 0, text: "" });
    useEffect(() => {
        const changed = () => draw(0);
        embedding.addEventListener("change", changed);
        return () => embedding.removeEventListener("change", changed);
    }, [embedding]);
    const { state } = embedding;
    if (state.kind === "off") return null;
    const text = {
        "unknown language": () => (state.kind === "unknown language" ? say.unknownLanguage(state.model, state.language) : ""),
        fetching: () => (state.kind === "fetching" ? say.fetching(state.done, state.total) : ""),
        embedding: () =>
            state.kind === "embedding"
                ? say.embedding(state.done, state.total, state.workers, state.arithmetic) + say.left(embedding.secondsLeft) + say.trouble(state.trouble)
                : "",
        paused: () => (state.kind === "paused" ? say.paused(state.done, state.total) : ""),
        complete: () => (state.kind === "complete" ? say.complete(state.total, state.kept, state.isKept) + say.trouble(state.trouble) : ""),
        failed: () => (state.kind === "failed" ? say.failed(state.message) : ""),
    }[state.kind]();
    const busy = state.kind === "embedding" || state.kind === "fetching";
    if (!busy || Date.now() - spoken.current.at > ANNOUNCED) spoken.current = { at: Date.now(), text };
    return (
        <p class="embedding-line">
            <span id="embedding">{text}</span>
            {"total" in state && state.kind !== "complete" && state.total > 0 && <progress aria-labelledby="embedding" max={state.total} value={state.done} />}
            {state.kind === "embedding" && (
                <button type="button" id="pause-embedding" onClick={() => embedding.pause()}>
                    {say.pause}
                </button>
            )}
            {state.kind === "paused" && (
                <button type="button" id="resume-embedding" onClick={() => embedding.resume()}>
                    {say.resume}
                </button>
            )}
            <span class="vh" role="status">
                {spoken.current.text}
            </span>
        </p>
    );
}
