/** A file as it was read, with its name for messages. */
export interface NamedFile {
    name: string;
    content: Uint8Array | string;
}

/** What METEOR needs: files that a page fetches when it is asked for. */
export interface Assets {
    /** `wordnet-3.0.bin`. */
    wordnet?: Uint8Array;
    /** `punkt-en.txt`; the page's module has its own. */
    punkt?: Uint8Array;
}
