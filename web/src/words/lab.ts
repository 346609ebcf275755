import { shown } from "./index.js";

const percent = (share: number) => `${Math.round(100 * share)}%`;

export const en = {
    heading: "Retrieval lab",
    lead: "Which passages of the book does retrieval find for a question, and in which order would a model read them?",
    question: "Question",
    fromSample: "Or a question of the sample",
    chooseQuestion: "choose …",
    search: "Search",
    budget: "Budget",
    tokens: (n: number) => `${shown(n)} tokens`,
    retriever: "Ranked by",
    retrievers: { bm25: "BM25, words", dense: "encoder, meaning", hybrid: "both, fused" },
    compute: "Encoder runs on",
    computes: { automatic: "what is there", processor: "processor", tract: "processor, by tract", webgpu: "WebGPU" },
    embeddingModel: (name: string) => `Embedding model: ${name}`,
    ownModel: "Another model, from files",
    ownModelHint: "model.toml, tokenizer.json and model.onnx of a folder as “closeread model” has them, chosen together. " +
        "The encoder runs those that closeread wrote, tract any other ONNX file.",
    lacksFiles: (names: string[]) => `not chosen: ${names.join(", ")}. A model has three files: model.toml, tokenizer.json and model.onnx; choose them together.`,
    backToShipped: (name: string) => `Back to ${name}`,
    neighbours: "Neighbours on each side",
    needBook: "Choose a book above; then ask.",
    summary: (n: number, of: number, tokens: number, recall: number | null) =>
        (n === 0 ? "No passage fits this budget." : `${shown(n)} of ${shown(of)} passages, ${shown(tokens)} tokens.`) +
        (recall === null ? "" : ` They hold ${percent(recall)} of the gold evidence.`),
    map: "Where it stands in the book",
    mapLabel: (n: number, evidence: number) =>
        `Map of the book from its start to its end: ${shown(n)} retrieved passages` +
        (evidence > 0 ? `, ${shown(evidence)} places of gold evidence.` : "."),
    retrieved: "retrieved",
    evidence: "gold evidence",
    start: "start of the book",
    end: "end",
    curve: "Evidence recall by budget",
    curveLabel: (budget: number, recall: number) =>
        `At ${shown(budget)} tokens ${percent(recall)} of the evidence is retrieved; the table below has every budget.`,
    curveTable: "The numbers",
    recallColumn: "evidence recall",
    budgetColumn: "budget, tokens",
    percent,
    byScore: "By score",
    byScoreNote: "vanilla RAG",
    byDocument: "In document order",
    byDocumentNote: "DOS RAG",
    passage: (n: number, at: number, score: number, tokens: number) =>
        `passage ${shown(n)}, ${Math.round(100 * at)}% into the book, score ${score.toPrecision(3)}, ${shown(tokens)} tokens`,
    holdsEvidence: "evidence",
    inBook: "In the book",
    inBookOf: (n: number) => `Passage ${shown(n)} in the book`,
    more: (n: number) => `Show ${shown(n)} more`,
    missing: (n: number) => `${shown(n)} pieces of evidence were not found in this book.`,
    answers: "Gold answer",
    reading: (n: number) => `Passage ${shown(n)} in its place`,
    readingFacts: (start: number, end: number) => `bytes ${shown(start)} to ${shown(end)}; marked: the passage, underlined: gold evidence`,
    wider: "More around it",
    close: "Close",
    unknownLanguage: (model: string, language: string) => `${model} does not know the language “${language}”: ranked by BM25.`,
    fetching: (done: number, total: number) => total === 0
        ? "The encoder's model is being fetched …"
        : `The encoder's model is being fetched: ${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB.`,
    embedding: (done: number, total: number, workers: number, arithmetic: string) =>
        `${shown(done)} of ${shown(total)} passages embedded, nearest first; ` +
        `${shown(workers)} ${workers === 1 ? "worker" : "workers"}, ${arithmetic}.`,
    trouble: (reason: string) => reason === "" ? "" : ` WebGPU is not used: ${reason}.`,
    complete: (total: number, kept: number) => kept === total
        ? `All ${shown(total)} passages have vectors, kept from an earlier visit.`
        : `All ${shown(total)} passages have vectors; they are kept in this browser.`,
    failed: (message: string) => `The encoder stopped: ${message}. Ranked as far as vectors have come.`,
};

export const zh: typeof en = {
    heading: "检索实验室",
    lead: "针对一个问题，检索会找到书中哪些段落？模型会按什么顺序读到它们？",
    question: "问题",
    fromSample: "或选一个示例问题",
    chooseQuestion: "请选择……",
    search: "检索",
    budget: "预算",
    tokens: (n) => `${shown(n)} 个 token`,
    retriever: "排序方式",
    retrievers: { bm25: "BM25（词）", dense: "编码器（语义）", hybrid: "两者融合" },
    compute: "编码器运行于",
    computes: { automatic: "自动选择", processor: "处理器", tract: "处理器（tract）", webgpu: "WebGPU" },
    embeddingModel: (name) => `嵌入模型：${name}`,
    ownModel: "改用其他模型的文件",
    ownModelHint: "“closeread model” 文件夹中的 model.toml、tokenizer.json 和 model.onnx，请一起选择。" +
        "由 closeread 写出的模型用自带编码器运行，其他 ONNX 文件用 tract 运行。",
    lacksFiles: (names) => `未选择：${names.join("、")}。一个模型有三个文件：model.toml、tokenizer.json 和 model.onnx，请一起选择。`,
    backToShipped: (name) => `恢复 ${name}`,
    neighbours: "两侧相邻段落数",
    needBook: "请先在上面选一本书，再提问。",
    summary: (n, of, tokens, recall) =>
        (n === 0 ? "此预算放不下任何段落。" : `${shown(of)} 个段落中的 ${shown(n)} 个，共 ${shown(tokens)} 个 token。`) +
        (recall === null ? "" : `其中包含 ${percent(recall)} 的标准证据。`),
    map: "在书中的位置",
    mapLabel: (n, evidence) =>
        `全书从头到尾的示意图：检索到 ${shown(n)} 个段落` + (evidence > 0 ? `，标准证据 ${shown(evidence)} 处。` : "。"),
    retrieved: "检索到的段落",
    evidence: "标准证据",
    start: "书首",
    end: "书尾",
    curve: "证据召回率随预算的变化",
    curveLabel: (budget, recall) => `预算 ${shown(budget)} 个 token 时召回 ${percent(recall)} 的证据；各预算的数值见下表。`,
    curveTable: "数值",
    recallColumn: "证据召回率",
    budgetColumn: "预算（token）",
    percent,
    byScore: "按得分",
    byScoreNote: "普通 RAG",
    byDocument: "按原文顺序",
    byDocumentNote: "DOS RAG",
    passage: (n, at, score, tokens) =>
        `第 ${shown(n)} 段，位于全书 ${Math.round(100 * at)}% 处，得分 ${score.toPrecision(3)}，${shown(tokens)} 个 token`,
    holdsEvidence: "证据",
    inBook: "在书中查看",
    inBookOf: (n) => `在书中查看第 ${shown(n)} 段`,
    more: (n) => `再显示 ${shown(n)} 个`,
    missing: (n) => `有 ${shown(n)} 处证据在这本书中没有找到。`,
    answers: "标准答案",
    reading: (n) => `第 ${shown(n)} 段在原文中`,
    readingFacts: (start, end) => `第 ${shown(start)} 至 ${shown(end)} 字节；底色为该段落，下划线为标准证据`,
    wider: "显示更多上下文",
    close: "关闭",
    unknownLanguage: (model, language) => `${model} 不支持语言“${language}”，按 BM25 排序。`,
    fetching: (done, total) => total === 0
        ? "正在获取编码器模型……"
        : `正在获取编码器模型：${(done / 1e6).toFixed(0)} / ${(total / 1e6).toFixed(0)} MB。`,
    embedding: (done, total, workers, arithmetic) =>
        `已编码 ${shown(total)} 个段落中的 ${shown(done)} 个，相近者优先；${shown(workers)} 个 worker，${arithmetic}。`,
    trouble: (reason) => reason === "" ? "" : `未使用 WebGPU：${reason}。`,
    complete: (total, kept) => kept === total
        ? `全部 ${shown(total)} 个段落已有向量，来自之前的访问。`
        : `全部 ${shown(total)} 个段落已有向量，保存在此浏览器中。`,
    failed: (message) => `编码器已停止：${message}。按现有向量排序。`,
};

export type Words = typeof en;
