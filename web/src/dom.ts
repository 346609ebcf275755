// Elements made of names, attributes and texts; nothing here is ever parsed as HTML.

export type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const element = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
}

/** A table with a caption, a row of column names and a row name in each row. */
export function table(caption: string, columns: string[], rows: Child[][]): HTMLTableElement {
    return make(
        "table",
        {},
        make("caption", {}, caption),
        make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)))),
        make(
            "tbody",
            {},
            ...rows.map(([first = "", ...others]) => make("tr", {}, make("th", { scope: "row" }, first), ...others.map((cell) => make("td", {}, cell)))),
        ),
    );
}

/** Text from outside (a book, a question, a response): in its own direction, its bidi controls reaching no further. */
export function foreign<K extends keyof HTMLElementTagNameMap>(name: K, text: string, attributes: Record<string, string> = {}): HTMLElementTagNameMap[K] {
    const element = make(name, { dir: "auto", ...attributes });
    element.classList.add("foreign");
    element.textContent = text;
    return element;
}

/** A labelled control: `id` is the control's. */
export function labelled(text: string, control: HTMLElement, ...beside: Child[]): HTMLParagraphElement {
    return make("p", { class: "field" }, make("label", { for: control.id }, text), control, ...beside);
}

export function option(value: string, text: string): HTMLOptionElement {
    return make("option", { value }, text);
}

export function button(text: string, action: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
    const element = make("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", action);
    return element;
}

/** The element of the page with this id, which the page is known to have. */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
    const found = document.getElementById(id);
    if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
    return found;
}
