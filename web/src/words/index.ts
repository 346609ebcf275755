// The interface's language. Each view has a file of words here, which exports `en` and `zh` of the same type.

export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = "closeread-language";

let current: Language = chosen();

export function language(): Language {
    return current;
}

/** Chooses the language, now and for later visits. */
export function setLanguage(to: Language): void {
    current = to;
    try {
        localStorage.setItem(KEY, to);
    } catch {
        // Storage may be forbidden; then the choice holds for this visit.
    }
}

/** A view's words in the chosen language: `inLanguage(words)` of `import * as words from "./words/lab.js"`. */
export function inLanguage<T>(words: { en: T; zh: T }): T {
    return words[current];
}

export function shown(number: number): string {
    return number.toLocaleString(current);
}

function chosen(): Language {
    let kept: string | null = null;
    try {
        kept = localStorage.getItem(KEY);
    } catch {
        kept = null;
    }
    return (kept ?? navigator.language).toLowerCase().startsWith("zh") ? "zh" : "en";
}
