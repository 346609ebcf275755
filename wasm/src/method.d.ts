/** A book for a method, with what is known of it. */
export interface MethodBook extends ReadOptions {
    file: BookFile;
    /** Its id in records; default `book`. */
    id?: string;
    /** Its title, which prompts show; default: an EPUB's own, else none. */
    title?: string;
}

/** What a method may ask of the world outside. */
export interface MethodHost {
    /** One chat completion; called before anything is sent. Rejections with the names of a ChatModel's errors become the outcomes they stand for. */
    chat(call: MethodCall): Promise<ChatReply | string> | ChatReply | string;
    /** One vector a text, L2-normalised, all of one length. */
    embed?(role: "query" | "passage", texts: string[]): Promise<Float32Array[]>;
    /** How well each text answers the query: one finite number a text, higher for a better one. */
    rerank?(query: string, texts: string[]): Promise<number[]> | number[];
    /** Told what was made of the books before the question, where the method makes something. */
    prepared?(preparation: Preparation<Prepared>): void;
}

/** What a method made of the books. */
export type Prepared = ({ made: "raptor" } & Tree) | ({ made: "read-agent" } & Pages);

/** A response as a host gives it: only the text is needed. */
export type ChatReply = { text: string } & Partial<ChatResponse>;
