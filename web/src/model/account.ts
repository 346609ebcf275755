// The user's models: what servers there are, and keys, which stay in memory unless the user says otherwise.

import type { ChatModelOptions } from "../closeread_wasm.js";

/** What stands before the slash of a model's name in records, and what it speaks. */
export const PROVIDERS = {
    openai: { protocol: "openai", needsUrl: false },
    anthropic: { protocol: "anthropic", needsUrl: false },
    gemini: { protocol: "gemini", needsUrl: false },
    "openai-compatible": { protocol: "openai", needsUrl: true },
} as const;

export type Provider = keyof typeof PROVIDERS;

/** What the form says of a model. */
export interface Account {
    provider: Provider;
    model: string;
    baseUrl: string;
    key: string;
    remember: boolean;
    /** JSON. */
    extraBody: string;
    relayed: boolean;
}

/** The way to servers through `closeread serve`; without `any` to servers of models on its machine alone. */
export interface Relay {
    url: string;
    token: string;
    any: boolean;
}

const STORED = "closeread-accounts";

interface Stored {
    model: string;
    baseUrl: string;
    key: string;
}

/** The account last used with a provider on this device, where the user wanted it remembered; else an empty one. */
export function accountOf(provider: Provider): Account {
    const known = stored()[provider];
    const fresh: Account = { provider, model: "", baseUrl: "", key: "", remember: false, extraBody: "", relayed: false };
    return known ? { ...fresh, ...known, remember: true } : fresh;
}

/** What the form begins with: the account that was remembered last. */
export function lastAccount(): Account {
    const known = Object.keys(stored()).filter((name): name is Provider => name in PROVIDERS);
    return accountOf(known.at(-1) ?? "openai");
}

/** Keeps the account on this device, or forgets it; false where the browser keeps nothing. */
export function remember({ provider, model, baseUrl, key, remember }: Account): boolean {
    const { [provider]: _, ...others } = stored();
    const all = remember ? { ...others, [provider]: { model, baseUrl, key } } : others;
    try {
        if (Object.keys(all).length === 0) localStorage.removeItem(STORED);
        else localStorage.setItem(STORED, JSON.stringify(all));
        return true;
    } catch {
        // Storage is full or forbidden; the key holds for this visit.
        return false;
    }
}

function stored(): Partial<Record<Provider, Stored>> {
    try {
        return (JSON.parse(localStorage.getItem(STORED) ?? "{}") ?? {}) as Partial<Record<Provider, Stored>>;
    } catch {
        return {};
    }
}

/** Whether an address is empty or a whole one: another would be taken for a path of this page's own server, and the key sent there. */
export function isAddress(text: string): boolean {
    if (text.trim() === "") return true;
    try {
        const { protocol, username, password } = new URL(text.trim());
        return /^https?:$/.test(protocol) && username === "" && password === "";
    } catch {
        return false;
    }
}

/** Whether two addresses of a form are of one server; an empty one is the provider's own, or none where there is no such. */
export function sameServer(provider: Provider, a: string, b: string): boolean {
    const [one, other] = [originOf(a), originOf(b)];
    return one === other || (PROVIDERS[provider].needsUrl && one === "");
}

function originOf(address: string): string {
    try {
        return new URL(address.trim()).origin;
    } catch {
        return address.trim();
    }
}

/** The model that the form describes; `wrong` is thrown where the further fields are no object. */
export function modelOf(account: Account, relay: Relay | undefined, wrong: () => Error): ChatModelOptions {
    const { protocol } = PROVIDERS[account.provider];
    const options: ChatModelOptions = { protocol, model: account.model };
    if (account.baseUrl.trim() !== "") options.baseUrl = account.baseUrl.trim();
    if (account.key.trim() !== "") options.key = account.key.trim();
    if (account.extraBody.trim() !== "") options.extraBody = objectOf(account.extraBody, wrong);
    if (relay?.any && account.relayed) options.relay = { url: relay.url, token: relay.token };
    return options;
}

function objectOf(text: string, wrong: () => Error): Record<string, unknown> {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch {
        value = undefined;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong();
    return value as Record<string, unknown>;
}

/** The relay of the server that this page comes from, where it has one. Asked for anew each time: a server that was started again has another token. */
export async function relay(): Promise<Relay | undefined> {
    try {
        const response = await fetch("closeread.json");
        if (!response.ok) return undefined;
        const { relay } = (await response.json()) as { relay?: { token: string; any: boolean } | null };
        return relay ? { url: new URL("relay", document.baseURI).href, ...relay } : undefined;
    } catch {
        return undefined;
    }
}
