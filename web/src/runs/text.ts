// Texts of books, questions and models: shown as they are, with what would steer the display shown by its number.

import { foreign } from "../dom.js";

/** Controls, and what turns the direction of the text behind it. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function visible(text: string): string {
    return text.replace(STEERING, (c) => `<U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

export function shownText<K extends keyof HTMLElementTagNameMap>(name: K, text: string, attributes: Record<string, string> = {}): HTMLElementTagNameMap[K] {
    return foreign(name, visible(text), attributes);
}
