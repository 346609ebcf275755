// The files of run folders: chosen, dropped, or served by `closeread serve`.

import type { NamedFile } from "../closeread_wasm.js";

/** The files of one run folder, each named by its path there. */
export interface RunFolder {
    name: string;
    files: NamedFile[];
}

/** A file with its path below what was chosen or dropped. */
export interface FoundFile {
    path: string;
    file: File;
}

const READ = /^(manifest\.json|items\.jsonl|records\.jsonl|judging\.json|judgements\.jsonl|prices\.json|preparations\/[^/]+\.json|texts\/[^/]+\.txt\.zst)$/;
const MANIFEST = "manifest.json";

/** What was chosen, as run folders: each folder with a `manifest.json`, with the files of it that are read. */
export async function runFolders(found: FoundFile[]): Promise<RunFolder[]> {
    const roots = found.filter(({ path }) => path === MANIFEST || path.endsWith(`/${MANIFEST}`)).map(({ path }) => path.slice(0, -MANIFEST.length));
    return Promise.all(
        roots.map(async (root) => {
            const own = found
                .map(({ path, file }) => ({ path: path.slice(root.length), file, inside: path.startsWith(root) }))
                .filter(({ path, inside }) => inside && READ.test(path));
            const files = await Promise.all(own.map(async ({ path, file }) => ({ name: path, content: new Uint8Array(await file.arrayBuffer()) })));
            return {
                name:
                    root
                        .split("/")
                        .filter((part) => part !== "")
                        .pop() ?? "run",
                files,
            };
        }),
    );
}

export function chosenFiles(list: FileList): FoundFile[] {
    return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** What was dropped, the content of folders included. */
export async function droppedFiles(transfer: DataTransfer): Promise<FoundFile[]> {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry());
    if (entries.every((entry) => entry === null)) return chosenFiles(transfer.files);
    const found: FoundFile[] = [];
    const take = async (entry: FileSystemEntry, at: string): Promise<void> => {
        if (entry.isFile) {
            const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
            found.push({ path: at + entry.name, file });
            return;
        }
        const reader = (entry as FileSystemDirectoryEntry).createReader();
        // A folder is handed out some entries at a time, until there are none.
        for (;;) {
            const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
            if (some.length === 0) return;
            for (const one of some) await take(one, `${at}${entry.name}/`);
        }
    };
    for (const entry of entries) if (entry !== null) await take(entry, "");
    return found;
}

/** Names of the runs that the server of this page has; none where it is another server. */
export async function servedRuns(): Promise<string[]> {
    try {
        const response = await fetch("closeread.json");
        if (!response.ok || !response.headers.get("content-type")?.includes("json")) return [];
        const { runs } = (await response.json()) as { runs?: unknown };
        return Array.isArray(runs) ? runs.filter((name) => typeof name === "string") : [];
    } catch {
        return [];
    }
}

export async function servedRun(name: string): Promise<RunFolder> {
    const at = `runs/${encodeURIComponent(name)}/`;
    const { files } = JSON.parse(new TextDecoder().decode(await fetched(at))) as { files: { path: string }[] };
    const read = files.filter(({ path }) => READ.test(path));
    return {
        name,
        files: await Promise.all(
            read.map(async ({ path }) => {
                const url = at + path.split("/").map(encodeURIComponent).join("/");
                return { name: path, content: await fetched(url) };
            }),
        ),
    };
}

/** The bytes at an address; why they do not come is said with it. */
async function fetched(url: string, asked: Promise<Response> = fetch(url)): Promise<Uint8Array> {
    const broken = (error: unknown): never => {
        throw new Error(`${url} cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
    };
    const response = await asked.catch(broken);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer().catch(broken));
}

/** Files that a run folder has besides the three that it must have, as far as their names are known without a list. */
const MAY_HAVE = ["judging.json", "judgements.jsonl", "prices.json"];

/** What servers say of a file that is not there; some name no file to whom they let list none. */
const NOT_THERE = [403, 404, 410];

/** A run folder somewhere else: its files are fetched by their names. */
export async function runAt(name: string, url: string): Promise<RunFolder> {
    const folder = new URL(url.endsWith("/") ? url : `${url}/`, document.baseURI);
    const read = async (path: string, asked?: Promise<Response>) => {
        const { href } = new URL(path, folder);
        return { name: path, content: await fetched(href, asked) };
    };
    const files = await Promise.all(["manifest.json", "items.jsonl", "records.jsonl"].map((path) => read(path)));
    const more = await Promise.all(
        MAY_HAVE.map(async (path) => {
            // Many servers let no page read that a file is not there.
            const response = await fetch(new URL(path, folder)).catch(() => undefined);
            // A server that is in trouble, or is asked too often, may have it: without it a judged run would pass for one that was not judged.
            return response === undefined || NOT_THERE.includes(response.status) ? undefined : read(path, Promise.resolve(response));
        }),
    );
    return { name, files: [...files, ...more].filter((file) => file !== undefined) };
}

/** Whether what was dropped is a run folder, or files of one, and no book. */
export function looksLikeRun(transfer: DataTransfer): boolean {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
    return entries.some((entry) => entry?.isDirectory) || [...transfer.files].some(({ name }) => READ.test(name));
}
