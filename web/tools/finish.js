// The last step of `cargo xtask web`: compresses assets, writes files.json for offline use, says how large the first load is.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeEssays } from "./essay.js";
import { allFiles, compressed, firstLoad } from "./first-load.js";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

const punkt = join(DIST, "assets/punkt-en.txt");
writeFileSync(`${punkt}.gz`, gzipSync(readFileSync(punkt), { level: 9 }));
rmSync(punkt);
// The elements fetch it as it is: servers pack what they send.
writeFileSync(join(DIST, "elements/wordnet-3.0.bin"), gunzipSync(readFileSync(join(DIST, "assets/wordnet-3.0.bin.gz"))));

await writeEssays();

/** What works offline after the first visit: the views, a book, the default tokenizer. The rest is kept once it was used. */
const kept = allFiles(DIST).filter(
    (path) =>
        !/^(elements|models|wllama)\/|LICENSE|\.d\.ts$|o200k|wordnet|closeread_(embed|tract)|^(files\.json|service\.js|package\.js(on)?|node\.js)$/.test(path),
);
const hash = createHash("sha256");
for (const path of kept) hash.update(path).update(readFileSync(join(DIST, path)));
const optimised = process.argv[2] !== "dev";
writeFileSync(join(DIST, "files.json"), JSON.stringify({ version: hash.digest("hex").slice(0, 16), optimised, files: kept }));

/** Most bytes after gzip -9 of what is fetched at once: by the page, by another site that embeds the scorer, to embed a book. */
const LIMITS = [
    { what: "first load, before a book is opened", files: firstLoad(DIST), most: 400e3 },
    {
        what: "the scorer for other pages",
        most: 400e3,
        files: ["elements/closeread-scorer.js", "elements/closeread_scorer_bg.wasm"],
    },
    ...["embed", "tract"].map((name) => ({
        what: `the module ${name}, fetched when a book is embedded by it`,
        most: Infinity,
        files: [`closeread_${name}.js`, `closeread_${name}_bg.wasm`],
    })),
];
for (const { what, files, most } of LIMITS) {
    const bytes = compressed(DIST, files);
    console.log(`${what}: ${files.length} files, ${Math.round(bytes / 1000)} KB after gzip -9`);
    if (!optimised || bytes <= most) continue;
    console.error(`that is more than ${most / 1000} KB: find out what came in, and keep it out or fetch it when it is needed`);
    process.exitCode = 1;
}
