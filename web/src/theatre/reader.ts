// Who replies: the form.

import { labelled, make, option } from "../dom.js";
import type { Answering } from "../messages/theatre.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";
import { PROVIDERS, modelOf, relay, remember, remembered, type Account, type Provider, type Relay } from "./account.js";

export interface Reader {
    answering: Answering | { by: "person" };
    /** As records name it. */
    name: string;
    window: number | undefined;
    maxOutputTokens: number | undefined;
}

export type Kind = "extractive" | "person" | "model";

/** What the form held when it was last shown, in memory. */
export interface ReaderState {
    kind: Kind;
    account: Account;
    maxOutputTokens: string;
    window: string;
}

export function freshReader(): ReaderState {
    const account: Account = {
        provider: "openai-compatible", model: "", baseUrl: "", key: "", remember: false, extraBody: "", relayed: false,
    };
    return { kind: "extractive", account, maxOutputTokens: "", window: "" };
}

/** The form; `read` says who replies, or throws what is missing. */
export function readerForm(state: ReaderState): { form: HTMLElement; read: () => Reader } {
    const say = inLanguage(words);
    const { account } = state;
    let forwarder: Relay | undefined;

    const text = (id: string, label: string, key: "model" | "baseUrl", type: string) => {
        const input = make("input", { id, type, autocomplete: "off", spellcheck: "false" });
        input.value = account[key];
        input.addEventListener("input", () => (account[key] = input.value));
        return { input, field: labelled(label, input) };
    };
    const model = text("model", say.model, "model", "text");
    const baseUrl = text("base-url", say.baseUrl, "baseUrl", "text");
    // A password field without a name: browsers neither fill it in nor put it into an address.
    const key = make("input", { id: "key", type: "password", autocomplete: "off", "aria-describedby": "key-hint" });
    key.value = account.key;
    key.addEventListener("input", () => (account.key = key.value));
    const ticked = (id: string, label: string, value: boolean, tick: (on: boolean) => void) => {
        const box = make("input", { id, type: "checkbox" });
        box.checked = value;
        box.addEventListener("change", () => tick(box.checked));
        return { box, field: make("p", { class: "field tick" }, box, make("label", { for: id }, label)) };
    };
    const keep = ticked("remember", say.remember, account.remember, (on) => {
        account.remember = on;
        remember(account);
    });
    const relayed = ticked("relayed", say.relayed, account.relayed, (on) => (account.relayed = on));
    relayed.field.hidden = true;
    const extra = make("textarea", { id: "extra-body", rows: "2", spellcheck: "false" });
    extra.value = account.extraBody;
    extra.addEventListener("input", () => (account.extraBody = extra.value));
    const number = (id: string, label: string, key: "maxOutputTokens" | "window") => {
        const input = make("input", { id, type: "number", min: "1", step: "1" });
        input.value = state[key];
        input.addEventListener("input", () => (state[key] = input.value));
        return labelled(label, input);
    };

    const provider = make("select", { id: "provider" }, ...Object.keys(PROVIDERS).map((name) => option(name, say.providers[name as Provider])));
    provider.value = account.provider;
    const served = () => {
        account.provider = provider.value as Provider;
        const known = remembered(account.provider);
        if (known) Object.assign(account, known, { remember: true });
        [model.input.value, baseUrl.input.value, key.value] = [account.model, account.baseUrl, account.key];
        keep.box.checked = account.remember;
        const label = baseUrl.field.querySelector("label");
        if (label) label.textContent = PROVIDERS[account.provider].needsUrl ? say.baseUrlOpen : say.baseUrl;
    };
    provider.addEventListener("change", () => {
        // A key goes to the provider that it was typed for.
        Object.assign(account, { model: "", baseUrl: "", key: "", remember: false });
        served();
    });
    served();

    const details = make("div", { class: "model" },
        labelled(say.provider, provider), model.field, baseUrl.field,
        labelled(say.key, key, make("small", { id: "key-hint" }, say.keyHint)), keep.field, relayed.field,
        labelled(say.extraBody, extra), number("window", say.window, "window"));
    const kinds = (["extractive", "person", "model"] as const).map((kind) => {
        const radio = make("input", { id: `reader-${kind}`, type: "radio", name: "reader", value: kind });
        radio.checked = state.kind === kind;
        radio.addEventListener("change", () => choose(kind));
        return make("p", { class: "field tick" }, radio, make("label", { for: radio.id }, say.readers[kind]));
    });
    function choose(kind: Kind): void {
        state.kind = kind;
        details.hidden = kind !== "model";
        if (kind === "model") void relay().then((found) => {
            forwarder = found;
            relayed.field.hidden = found === undefined;
        });
    }
    choose(state.kind);

    const read = (): Reader => {
        const numbers = {
            maxOutputTokens: Number(state.maxOutputTokens) || undefined,
            window: state.kind === "model" && state.window !== "" ? Number(state.window) : undefined,
        };
        if (state.kind === "extractive") return { answering: { by: "extractive" }, name: "builtin/extractive", ...numbers };
        if (state.kind === "person") return { answering: { by: "person" }, name: "person/typed", ...numbers };
        if (account.model.trim() === "") throw new Error(say.noModel);
        if (PROVIDERS[account.provider].needsUrl && account.baseUrl.trim() === "") throw new Error(say.noUrl);
        if (account.remember) remember(account);
        const model = modelOf(account, forwarder, say.notJson);
        return { answering: { by: "model", model }, name: `${account.provider}/${account.model.trim()}`, ...numbers };
    };
    const form = make("fieldset", {}, make("legend", {}, say.reader), ...kinds, details,
        number("max-output-tokens", say.maxOutputTokens, "maxOutputTokens"));
    return { form, read };
}
