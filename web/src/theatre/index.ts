import { make } from "../dom.js";
import type { Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";

export function mount(section: HTMLElement, _session: Session): void {
    const { heading } = inLanguage(words);
    section.replaceChildren(make("h2", {}, heading));
}
