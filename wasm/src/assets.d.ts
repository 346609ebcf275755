/** Files beside the module: `cl100k_base.bin`, `o200k_base.bin`, `punkt-en.txt`, `wordnet-3.0.bin`. */
export type AssetName = TokenizerName | "punkt-en" | "wordnet";

/** A tokenizer that can be provided. */
export type TokenizerName = "cl100k" | "o200k";
