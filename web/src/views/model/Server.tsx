// Models on this machine: looked for on a click, listed, or the line that lets this page in.

import type { LocalServer } from "../../model/local.js";
import { useSession, useWords } from "../../context.js";
import { visible } from "../../runs/text.js";
import { useStore } from "../../state/store.js";
import * as words from "../../words/model.js";
import { Copy } from "./Copy.js";
import { Option, State } from "./Option.js";

export function Servers() {
    const session = useSession();
    const say = useWords(words);
    const { models } = session;
    const { servers, looking } = useStore(models.store, (state) => state);
    const look = () => session.attempt(() => models.lookForServers(new AbortController().signal));
    const all = servers?.flatMap((server) => server.models) ?? [];
    const found = servers === undefined ? "" : say.foundModels(all.length, servers.filter(({ models }) => models.length > 0).length);
    return (
        <section class="source" aria-labelledby="source-local">
            <h2 id="source-local">
                {say.here}
                <button id="look" type="button" disabled={looking} onClick={look}>
                    {looking ? say.looking : servers ? say.lookAgain : say.look}
                </button>
            </h2>
            <p class="mute">{say.hereLead}</p>
            <p id="found" role="status">
                {found}
            </p>
            {servers?.map((server) => (
                <Found key={server.port} server={server} />
            ))}
        </section>
    );
}

function Found({ server }: { server: LocalServer }) {
    const say = useWords(words);
    const { state, models, line, port } = server;
    return (
        <div class="server" data-port={port} data-state={state}>
            <p>
                <State of={state === "ready" ? "on" : state === "absent" ? "off" : "error"}>{say.server[state](server)}</State>
            </p>
            {state === "ready" && models.length === 0 && <p class="mute">{say.noModels}</p>}
            {models.map(({ id, window }) => (
                <Option
                    key={id}
                    choice={{ source: "local", port, model: id, window }}
                    name={visible(id)}
                    about={window === undefined ? say.windowUnknown : say.window(window)}
                />
            ))}
            {line !== undefined && (
                <>
                    <p class="mute small">{say.mend}</p>
                    <p class="line">
                        <code>{line}</code>
                        <Copy text={line} />
                    </p>
                </>
            )}
        </div>
    );
}
