// Where the assets lie, compressed, below the page or the package.

import type { AssetName } from "./closeread_books.js";

export const ASSET_FILES: Record<AssetName, string> = {
    cl100k: "assets/cl100k_base.bin.gz",
    o200k: "assets/o200k_base.bin.gz",
    "punkt-en": "assets/punkt-en.txt.gz",
    wordnet: "assets/wordnet-3.0.bin.gz",
};
