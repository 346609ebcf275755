/** Files beside the module: `cl100k_base.tiktoken`, `o200k_base.tiktoken`, `punkt-en.txt`, `wordnet-3.0.bin`. */
export type AssetName = "cl100k" | "o200k" | "punkt-en" | "wordnet";
