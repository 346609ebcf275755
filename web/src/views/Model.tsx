// The picker: six kinds of readers, one of them chosen.

import { useEffect } from "preact/hooks";
import { useApp, useSession, useWords } from "../context.js";
import { useStore } from "../state/store.js";
import * as words from "../words/model.js";
import { Chosen } from "./model/Chosen.js";
import { InPage } from "./model/InPage.js";
import { Key } from "./model/Key.js";
import { Option, State } from "./model/Option.js";
import { Servers } from "./model/Server.js";

export function Model() {
    const session = useSession();
    const say = useWords(words);
    const { models } = session;
    const { choice, chrome, constrain, window, maxOutputTokens } = useStore(models.store, (state) => state);
    const language = useApp((state) => state.book?.facts.language ?? state.language);
    useEffect(() => void session.attempt(() => models.look(language)), [language]);
    const fetchChrome = () => session.attempt(() => models.useChrome(language, new AbortController().signal));
    const limit = (id: string, label: string, field: "window" | "maxOutputTokens", value: string) => (
        <p class="field">
            <label for={id}>{label}</label>
            <input
                id={id}
                type="number"
                min="1"
                value={value}
                onInput={(event) => models.store.dispatch({ kind: "limits", [field]: event.currentTarget.value })}
            />
        </p>
    );
    const usable = chrome.state === "available";
    return (
        <section id="model" class="model" aria-labelledby="model-heading">
            <h1 id="model-heading">{say.title}</h1>
            <p class="lede serif">{say.lead}</p>
            <div class="lay">
                <form aria-label={say.title} onSubmit={(event) => event.preventDefault()}>
                    <Servers />
                    <section class="source" aria-labelledby="source-chrome">
                        <h2 id="source-chrome">
                            {say.chrome} <State of={usable ? "on" : chrome.state === "downloading" ? "part" : "off"}>{say.chromeStates[chrome.state]}</State>
                        </h2>
                        {usable && (
                            <>
                                <Option
                                    choice={{ source: "chrome" }}
                                    choose={fetchChrome}
                                    name={say.chromeWho}
                                    about={chrome.window === undefined ? say.windowUnknown : say.window(chrome.window)}
                                />
                                <p class="mute small">{say.chromeSeed}</p>
                            </>
                        )}
                        {chrome.state === "downloadable" && (
                            <p>
                                <button type="button" id="fetch-chrome" onClick={fetchChrome}>
                                    {say.chromeFetch}
                                </button>
                            </p>
                        )}
                        {chrome.share !== undefined && <progress value={chrome.share} max={1} aria-label={say.chromeWho} />}
                    </section>
                    <InPage />
                    <section class="source" aria-labelledby="source-key">
                        <h2 id="source-key">{say.key}</h2>
                        <Option choice={{ source: "key" }} id="choose-key" name={say.keyWho} about={say.keyHint} />
                        {choice.source === "key" && <Key />}
                    </section>
                    <section class="source" aria-labelledby="source-person">
                        <h2 id="source-person">{say.person}</h2>
                        <Option choice={{ source: "person" }} id="choose-person" name={say.names.person} about={say.personWho} />
                    </section>
                    <section class="source" aria-labelledby="source-words">
                        <h2 id="source-words">{say.words}</h2>
                        <Option choice={{ source: "words" }} id="choose-words" name={say.names.words} about={say.wordsWho} />
                    </section>
                    <details class="source">
                        <summary>{say.more}</summary>
                        <p class="field tick">
                            <input
                                id="constrain"
                                type="checkbox"
                                checked={constrain}
                                aria-describedby="constrain-hint"
                                onChange={(event) => models.store.dispatch({ kind: "limits", constrain: event.currentTarget.checked })}
                            />
                            <label for="constrain">{say.constrain}</label>
                        </p>
                        <p id="constrain-hint" class="mute small">
                            {say.constrainHint}
                        </p>
                        {limit("window", say.windowOf, "window", window)}
                        {limit("max-output-tokens", say.most, "maxOutputTokens", maxOutputTokens)}
                    </details>
                </form>
                <aside aria-label={say.aside}>
                    <Chosen />
                </aside>
            </div>
        </section>
    );
}
