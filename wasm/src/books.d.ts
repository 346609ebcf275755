/** The bytes of a .txt, .md, .epub or .html file, or the text of a book. */
export type BookFile = Uint8Array | string;
