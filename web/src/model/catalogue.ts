// Language models that the page can run by itself.

export interface Offered {
    id: string;
    name: string;
    url: string;
    /** Of the download, in bytes, until the server has said how many they are. */
    bytes: number;
    languages: readonly string[];
    /** Tokens of prompt and response for which memory is taken. */
    window: number;
}

/** Both read English and Chinese, and keep to a form. Licence of both: Apache 2.0. */
export const OFFERED: readonly Offered[] = [
    {
        id: "qwen3-0.6b",
        name: "Qwen3 0.6B",
        bytes: 397e6,
        languages: ["en", "zh"],
        window: 8192,
        url: "https://huggingface.co/unsloth/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q4_K_M.gguf",
    },
    {
        id: "qwen3-1.7b",
        name: "Qwen3 1.7B",
        bytes: 1.11e9,
        languages: ["en", "zh"],
        window: 8192,
        url: "https://huggingface.co/unsloth/Qwen3-1.7B-GGUF/resolve/main/Qwen3-1.7B-Q4_K_M.gguf",
    },
];
