// A model that is asked with the reader's own key.

import { useRef, useState } from "preact/hooks";
import { PROVIDERS, accountOf, remember, sameServer, type Account, type Provider } from "../../model/account.js";
import { useSession, useWords } from "../../context.js";
import { useStore } from "../../state/store.js";
import * as words from "../../words/model.js";

export function Key() {
    const { models } = useSession();
    const say = useWords(words);
    const account = useStore(models.store, (state) => state.account);
    const [isKept, setKept] = useState(true);
    const [isCleared, setCleared] = useState(false);
    const addressBefore = useRef("");
    const set = (change: Partial<Account>) => {
        models.store.dispatch({ kind: "account", account: change });
        const now = models.state.account;
        if (now.remember || change.remember === false) setKept(remember(now) || !now.remember);
    };
    const provider = (name: Provider) => {
        // A key goes to the provider that it was typed for.
        const { extraBody: _, relayed: __, ...account } = accountOf(name);
        models.store.dispatch({ kind: "account", account });
    };
    const addressSet = () => {
        if (account.key === "" || sameServer(account.provider, addressBefore.current, account.baseUrl)) return;
        set({ key: "" });
        setCleared(true);
    };
    const text = (id: string, label: string, field: "model" | "baseUrl") => (
        <p class="field">
            <label for={id}>{label}</label>
            <input
                id={id}
                type="text"
                autocomplete="off"
                spellcheck={false}
                value={account[field]}
                onInput={(event) => set({ [field]: event.currentTarget.value })}
                {...(field === "baseUrl" && { onFocus: () => (addressBefore.current = account.baseUrl), onChange: addressSet })}
            />
        </p>
    );
    const tick = (id: string, label: string, field: "remember" | "relayed") => (
        <p class="field tick">
            <input id={id} type="checkbox" checked={account[field]} onChange={(event) => set({ [field]: event.currentTarget.checked })} />
            <label for={id}>{label}</label>
        </p>
    );
    return (
        <div class="account">
            <p class="field">
                <label for="provider">{say.provider}</label>
                <select id="provider" value={account.provider} onChange={(event) => provider(event.currentTarget.value as Provider)}>
                    {Object.keys(PROVIDERS).map((name) => (
                        <option key={name} value={name}>
                            {say.providers[name as Provider]}
                        </option>
                    ))}
                </select>
            </p>
            {text("model-name", say.model, "model")}
            {text("base-url", PROVIDERS[account.provider].needsUrl ? say.baseUrlOpen : say.baseUrl, "baseUrl")}
            {/* A password field without a name: browsers neither fill it in nor put it into an address. */}
            <p class="field">
                <label for="key">{say.keyField}</label>
                <input
                    id="key"
                    type="password"
                    autocomplete="off"
                    aria-describedby="key-hint"
                    value={account.key}
                    onInput={(event) => {
                        set({ key: event.currentTarget.value });
                        setCleared(false);
                    }}
                />
                <small id="key-hint">{say.keyHint}</small>
                <small role="status">{isCleared && say.keyCleared}</small>
            </p>
            {tick("remember", say.remember, "remember")}
            <small role="status">{account.remember && !isKept && say.notKept}</small>
            {models.relay?.any && tick("relayed", say.relayed, "relayed")}
            <p class="field">
                <label for="extra-body">{say.extraBody}</label>
                <textarea
                    id="extra-body"
                    rows={2}
                    spellcheck={false}
                    value={account.extraBody}
                    onInput={(event) => set({ extraBody: event.currentTarget.value })}
                />
            </p>
        </div>
    );
}
