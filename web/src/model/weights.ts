// Weights of language models in this browser's own file system (OPFS): fetched from a hub or dropped as a GGUF file, listed,
// deleted. A file counts once it is whole.

const FOLDER = "language-models";
/** Ends the name of a file that is still coming. */
const PART = ".part";
/** What a GGUF file begins with. */
const MAGIC = "GGUF";

export interface StoredWeights {
    /** The name of a file without `.gguf`. */
    id: string;
    bytes: number;
}

export interface Progress {
    bytes: number;
    /** Where it is known. */
    of: number | undefined;
    bytesPerSecond: number;
}

async function folder(): Promise<FileSystemDirectoryHandle> {
    if (navigator.storage?.getDirectory === undefined) throw new Error("this browser gives pages no file system to keep weights in");
    const root = await navigator.storage.getDirectory();
    return root.getDirectoryHandle(FOLDER, { create: true });
}

/** What is stored whole, by name; nothing where the browser keeps nothing. */
export async function storedWeights(): Promise<StoredWeights[]> {
    try {
        const found: StoredWeights[] = [];
        const files = (await folder()) as FileSystemDirectoryHandle & { values(): AsyncIterable<FileSystemHandle> };
        for await (const handle of files.values()) {
            if (handle.kind !== "file" || handle.name.endsWith(PART)) continue;
            const { size } = await (handle as FileSystemFileHandle).getFile();
            found.push({ id: handle.name.replace(/\.gguf$/, ""), bytes: size });
        }
        return found.sort((a, b) => a.id.localeCompare(b.id));
    } catch {
        return [];
    }
}

/** The stored file; the engine reads it where it lies. */
export async function openWeights(id: string): Promise<File> {
    const gone = (error: unknown): never => {
        if (!(error instanceof DOMException && error.name === "NotFoundError")) throw error;
        throw new Error(`the weights of ${id} are no longer in this browser: fetch them again, or choose another model`);
    };
    return (await (await folder()).getFileHandle(`${id}.gguf`).catch(gone)).getFile();
}

export async function deleteWeights(id: string): Promise<void> {
    const files = await folder();
    for (const name of [`${id}.gguf`, `${id}.gguf${PART}`]) await files.removeEntry(name).catch(() => {});
}

/** Fetches weights; what has come is lost when `signal` is aborted. */
export async function fetchWeights(id: string, url: string, progress: (now: Progress) => void, signal: AbortSignal): Promise<void> {
    const response = await fetch(url, { signal });
    if (!response.ok || response.body === null) throw new Error(`the weights could not be fetched: ${new URL(url).host} answered ${response.status}`);
    const length = Number(response.headers.get("content-length"));
    await store(id, response.body, length > 0 ? length : undefined, progress, signal);
}

/** Keeps a GGUF file that the reader dropped or chose. */
export async function keepWeights(file: File, progress: (now: Progress) => void, signal: AbortSignal): Promise<string> {
    if ((await file.slice(0, MAGIC.length).text()) !== MAGIC) {
        throw new Error(`${file.name} is no GGUF file: expected weights of a language model as llama.cpp reads them`);
    }
    const id = file.name.replace(/\.gguf$/i, "").replace(/[^\w.-]+/g, "-");
    await store(id, file.stream(), file.size, progress, signal);
    return id;
}

/** Keeps a file, unless another tab is keeping it: of two that come at once one would be lost when it has come. */
async function store(
    id: string,
    from: ReadableStream<Uint8Array>,
    of: number | undefined,
    progress: (now: Progress) => void,
    signal: AbortSignal,
): Promise<void> {
    const files = await folder();
    await navigator.locks.request(`closeread weights ${id}`, { ifAvailable: true }, async (lock) => {
        if (lock === null) {
            await from.cancel();
            throw new Error(`another tab is keeping ${id}: when it has all of it, load this page again`);
        }
        const part = `${id}.gguf${PART}`;
        const handle = await files.getFileHandle(part, { create: true });
        const start = performance.now();
        let bytes = 0;
        const counting = new TransformStream<Uint8Array, Uint8Array>({
            transform(piece, controller) {
                bytes += piece.byteLength;
                progress({ bytes, of, bytesPerSecond: (1000 * bytes) / Math.max(performance.now() - start, 1) });
                controller.enqueue(piece);
            },
        });
        try {
            // The writable is a stream of bytes; its type says more than that.
            const into = (await handle.createWritable()) as unknown as WritableStream<Uint8Array>;
            await from.pipeThrough(counting).pipeTo(into, { signal });
            if (of !== undefined && bytes !== of) throw new Error(`only ${bytes} of ${of} bytes came: fetch the weights again`);
            await renamed(files, handle, `${id}.gguf`);
        } catch (error) {
            await files.removeEntry(part).catch(() => {});
            if (error instanceof DOMException && error.name === "QuotaExceededError") {
                throw new Error("this browser has no room for these weights: delete others, or give the page more room");
            }
            throw error;
        }
    });
}

async function renamed(files: FileSystemDirectoryHandle, handle: FileSystemFileHandle, name: string): Promise<void> {
    await files.removeEntry(name).catch(() => {});
    const movable = handle as FileSystemFileHandle & { move?(name: string): Promise<void> };
    if (movable.move !== undefined) return movable.move(name);
    const into = await (await files.getFileHandle(name, { create: true })).createWritable();
    await (await handle.getFile()).stream().pipeTo(into as unknown as WritableStream<Uint8Array>);
    await files.removeEntry(handle.name);
}
