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

/** The first program of these names, in the folders of PATH, or of these paths. */
function find(names, elsewhere) {
    const folders = (process.env.PATH ?? "").split(delimiter);
    return [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...elsewhere].find(isProgram);
}

/** The path of a Chromium. */
export function chromiumPath() {
    const found = process.env.CLOSEREAD_CHROMIUM ?? find(NAMES, ELSEWHERE);
    if (found === undefined) throw new Error("no Chromium found: install one, or name it by CLOSEREAD_CHROMIUM");
    return found;
}

/** The path of a Chromium without windows, which drives the page with half the work; if there is none, that of a whole one. */
export function headlessPath() {
    return find(["chromium-headless-shell", "chrome-headless-shell"], ["/usr/lib64/chromium-browser/headless_shell"]) ?? chromiumPath();
}
