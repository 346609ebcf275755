/**
 * The bytes of a .txt, .md, .epub or .html file, or the text of a book. Of an EPUB and of a web page that begins with its document
 * type or `<html>`, what a reader sees of it is read; the command line reads a web page with its tags. A string stays as it is, tags
 * included.
 */
export type BookFile = Uint8Array | string;
