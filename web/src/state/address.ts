// Where the page is, as its address says: `#/find?b=BOOK&q=QUESTION&k=1500`, `#/runs/NAME/trials/ITEM/CELL`.

export const VERBS = ["find", "ask", "watch", "runs"] as const;
export type Verb = (typeof VERBS)[number];
/** The essay, one of the four verbs, or the choice of a model. */
export type View = "essay" | Verb | "model";

export interface Address {
    view: View;
    /** Parts behind the view's name, decoded. */
    path: readonly string[];
    query: Readonly<Record<string, string>>;
}

/** Query keys that every view about a book understands: book, question, budget, ranking, order, neighbours. */
export const SHARED = ["b", "q", "k", "r", "o", "n"] as const;

/** Reads a hash; what is no view is the essay. */
export function parseAddress(hash: string): Address {
    const text = hash.replace(/^#?\/?/, "");
    const mark = text.indexOf("?");
    const [path, query] = mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
    const [name = "", ...rest] = path
        .split("/")
        .filter((part) => part !== "")
        .map(decoded);
    const view = name === "model" || (VERBS as readonly string[]).includes(name) ? (name as View) : "essay";
    return { view, path: view === name || name === "essay" ? rest : [], query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The hash of an address; empty values are left out. */
export function addressHash({ view, path = [], query = {} }: Partial<Address> & { view: View }): string {
    const values = Object.entries(query).filter(([, value]) => value !== "");
    const asked = new URLSearchParams(values).toString();
    const parts = [view, ...path].map(encodeURIComponent);
    const at = view === "essay" && path.length === 0 ? "" : parts.join("/");
    return `#/${at}${asked === "" ? "" : `?${asked}`}`;
}

/** The same book and question in another view. */
export function inView(address: Address, view: View): string {
    const query = Object.fromEntries(SHARED.flatMap((key) => (address.query[key] === undefined ? [] : [[key, address.query[key]]])));
    return addressHash({ view, query: view === "runs" ? {} : query });
}

/** A whole number of an address; what is none, or out of bounds, is `otherwise`. */
export function whole<T>(text: string | undefined, low: number, high: number, otherwise: T): number | T {
    const number = Number(text ?? "");
    return text && Number.isInteger(number) && number >= low && number <= high ? number : otherwise;
}

function decoded(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}
