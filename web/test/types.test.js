// What the module exports, as its declarations say. `UPDATE_EXPECT=1` writes wasm/types/api.d.ts anew.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "./fixtures.js";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const DECLARED = path("../dist/closeread_wasm.d.ts");
const KEPT = path("../../wasm/types/api.d.ts");

/** Functions and classes with their comments, without what bindgen adds for itself. */
function exported(declarations) {
    const found = declarations.matchAll(/(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export (?:class \w+ \{[\s\S]*?\n\}|function (?!initSync)\w+\([^\n]*)/g);
    const own = [...found].map(([text]) => text.replace(/^ {4}(?:free\(\): void|\[Symbol\.dispose\]\(\): void|private constructor\(\));\n/gm, ""));
    return `// Generated: UPDATE_EXPECT=1 and the tests of the page write it anew.\n\n${own.join("\n\n")}\n`;
}

test("the functions and classes of the module are those that the documentation lists", () => {
    test.skip(!existsSync(DECLARED), "the page is not built");
    const now = exported(readFileSync(DECLARED, "utf8"));
    if (process.env.UPDATE_EXPECT === "1") writeFileSync(KEPT, now);
    assert.equal(readFileSync(KEPT, "utf8"), now);
});
