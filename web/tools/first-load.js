// What a browser fetches of web/dist before a book is opened, and how many bytes that is.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

/** What is fetched by name on the first screen. */
const BY_NAME = ["style.css", "icon.svg", "essay.css", "essay.en.json", "sample/documents.jsonl"];

/** Paths within `dist`: the page, what it names, the modules that these import. */
export function firstLoad(dist) {
    const files = new Set();
    const add = (path) => {
        if (files.has(path)) return;
        files.add(path);
        const text = /\.(html|js)$/.test(path) ? readFileSync(join(dist, path), "utf8") : "";
        const named = path.endsWith(".html")
            ? text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([\w./-]+)"/g)
            : text.matchAll(/(?:^|[;}])(?:import|export)\b[^"'();]*["'](\.[^"']+)["']/gm);
        for (const [, name] of named) add(normalize(join(dirname(path), name)));
    };
    const essay = readdirSync(dist).filter((name) => /^Essay-\w+\.js$/.test(name));
    ["index.html", ...BY_NAME, ...essay].forEach(add);
    const fonts = readFileSync(join(dist, "style.css"), "utf8").matchAll(/url\((fonts\/[\w./-]+)\)/g);
    for (const [, font] of fonts) files.add(font);
    return [...files].sort();
}

/** Bytes after `gzip -9`, file by file. */
export const compressed = (dist, files) => files.reduce((sum, path) => sum + gzipSync(readFileSync(join(dist, path)), { level: 9 }).length, 0);

/** All files below `dist`, as paths within it. */
export const allFiles = (dist) =>
    readdirSync(dist, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dist.length).replaceAll("\\", "/").replace(/^\//, ""))
        .sort();
