// The open book, which all views share.

/** What is known of a book that was read. */
export interface Facts {
    language: string;
    encoding: string;
    /** In an EPUB's metadata; else empty. */
    title: string;
    nBytes: number;
    nPassages: number;
    nTokens: number;
}

export interface BookMessages {
    /** Reads and indexes a file; it is the open book from then on. */
    "book/open": { request: { name: string; bytes: Uint8Array }; reply: Facts };
}
