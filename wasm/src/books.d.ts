/**
 * The bytes of a .txt, .md, .epub or .html file, or the text of a book. Bytes are read as the command line reads a file: of an
 * EPUB and of a web page that begins with its document type or `<html>`, what a reader sees of it. A string stays as it is, tags
 * included.
 */
export type BookFile = Uint8Array | string;
