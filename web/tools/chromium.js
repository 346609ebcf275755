// Where Chromium is, for what drives the page: named by CLOSEREAD_CHROMIUM, or found as Debian, Fedora, Chrome and macOS have it.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const ELSEWHERE = [
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    ...["Chromium", "Google Chrome"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
];

function isProgram(path) {
    try {
        accessSync(path, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}

/** The path of a Chromium. */
export function chromiumPath() {
    const folders = (process.env.PATH ?? "").split(delimiter);
    const paths = [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...ELSEWHERE];
    const found = process.env.CLOSEREAD_CHROMIUM ?? paths.find(isProgram);
    if (found === undefined) throw new Error("no Chromium found: install one, or name it by CLOSEREAD_CHROMIUM");
    return found;
}
