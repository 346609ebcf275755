// Language models in the page itself: two sizes to fetch, a file of the reader's own, what is stored.

import { OFFERED, type Offered } from "../../model/catalogue.js";
import type { StoredWeights } from "../../model/weights.js";
import { useSession, useWords } from "../../context.js";
import { useStore } from "../../state/store.js";
import * as words from "../../words/model.js";
import { Option } from "./Option.js";

export function InPage() {
    const session = useSession();
    const say = useWords(words);
    const { models } = session;
    const { stored, fetching } = useStore(models.store, (state) => state);
    const own = stored.filter(({ id }) => !OFFERED.some((offered) => offered.id === id));
    const file = (event: Event) => {
        const input = event.currentTarget as HTMLInputElement;
        const chosen = input.files?.[0];
        if (chosen) void session.attempt(() => models.keepFile(chosen)).then(() => (input.value = ""));
    };
    const ownComing = Object.keys(fetching).filter((id) => !OFFERED.some((offered) => offered.id === id));
    return (
        <section class="source" aria-labelledby="source-page">
            <h2 id="source-page">{say.page}</h2>
            <p class="mute">
                {say.pageLead} {say.small}
            </p>
            {OFFERED.map((offered, place) => (
                <One key={offered.id} offered={offered} larger={place > 0} weights={stored.find(({ id }) => id === offered.id)} />
            ))}
            {own.map((weights) => (
                <Stored key={weights.id} weights={weights} name={weights.id} />
            ))}
            {ownComing.map((id) => (
                <Coming key={id} id={id} name={id} />
            ))}
            <p class="field">
                <label class="button" for="gguf">
                    {say.ownFile}
                </label>
                <input id="gguf" class="vh" type="file" accept=".gguf" onChange={file} /> <span class="mute small">{say.ownHint}</span>
            </p>
            {!crossOriginIsolated && navigator.serviceWorker?.controller && <p class="mute small">{say.reload}</p>}
        </section>
    );
}

function One({ offered, larger, weights }: { offered: Offered; larger: boolean; weights: StoredWeights | undefined }) {
    const session = useSession();
    const say = useWords(words);
    const { models } = session;
    const coming = useStore(models.store, (state) => state.fetching[offered.id]);
    if (weights) return <Stored weights={weights} name={offered.name} />;
    if (coming) return <Coming id={offered.id} name={offered.name} />;
    return (
        <div class="option off" data-weights={offered.id}>
            <span class="what">
                <b>{offered.name}</b>
                <span class="about">
                    {say.offered(offered, offered.bytes)}
                    {larger && `; ${say.larger}`}
                </span>
            </span>
            <button type="button" aria-label={say.fetchOne(offered.name)} onClick={() => session.attempt(() => models.fetchWeights(offered.id))}>
                {say.fetch}
            </button>
        </div>
    );
}

function Stored({ weights: { id, bytes }, name }: { weights: StoredWeights; name: string }) {
    const session = useSession();
    const say = useWords(words);
    return (
        <Option choice={{ source: "page", id }} name={name} about={say.stored(bytes)}>
            <button type="button" class="quiet small" aria-label={say.deleteOne(name)} onClick={() => session.attempt(() => session.models.deleteWeights(id))}>
                {say.delete}
            </button>
        </Option>
    );
}

function Coming({ id, name }: { id: string; name: string }) {
    const session = useSession();
    const say = useWords(words);
    const now = useStore(session.models.store, (state) => state.fetching[id]);
    if (now === undefined) return null;
    const { bytes, of, bytesPerSecond } = now;
    return (
        <div class="option off" data-weights={id}>
            <span class="what">
                <b>{name}</b>
                <progress value={of === undefined ? undefined : bytes} max={of ?? 1} aria-label={name} />
                <span class="about num">{say.progress(bytes, of, bytesPerSecond)}</span>
            </span>
            <button type="button" class="quiet" aria-label={say.cancelOne(name)} onClick={() => session.models.cancelFetch(id)}>
                {say.cancel}
            </button>
        </div>
    );
}
