import type { Order } from "../parts/Stage.js";
import { shown } from "./index.js";

const percent = (share: number) => `${Math.round(100 * share)}%`;
const EN = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
const listed = (words: string[]) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
const rising = (met: number[]) => met.every((n, at) => at === 0 || met[at - 1]! < n);
const many = (n: number, one: string, more: string) => `${shown(n)} ${n === 1 ? one : more}`;

export const en = {
    heading: "Find",
    lead: "Ask a book of yours a question, and see which passages a search hands to a model, and in which order.",
    chooseBook: "Choose a book",
    orDrop: "or drop one anywhere in the window.",
    question: "Question",
    askPlaceholder: "Ask something about this book",
    fromSample: "Or one with a known answer",
    chooseQuestion: "choose …",
    search: "Search",
    answers: "Gold answer",
    budget: "Budget",
    tokens: (n: number) => `${shown(n)} tokens`,
    nothing: "No word of the question stands in this book. Nothing is retrieved; ask in other words, or rank by meaning.",
    nothingInPairs:
        "Chinese is searched by pairs of characters, and no pair of the question stands in this book. Ask in other words, of two characters or more.",
    summary: (n: number, of: number, matched: number) =>
        n === 0
            ? "No passage fits this budget."
            : `${many(n, "passage", "passages")} of ${shown(of)}${matched < n ? `, ${shown(matched)} with a word of the question` : ""}`,
    and: " · ",
    pieces: (n: number, of: number) => `${shown(n)} of ${many(of, "piece", "pieces")} of evidence`,
    ribbon: (n: number, evidence: number, found: number) =>
        `The book from start to end: ${many(n, "passage", "passages")} retrieved` +
        (evidence > 0 ? `, ${shown(found)} of ${many(evidence, "piece", "pieces")} of evidence among them` : ""),
    order: (order: Order, met: number[], of: number) => {
        if (of === 0)
            return order === "score"
                ? "By score, the best match comes first, wherever it stands in the book."
                : "In the book’s order, the same passages come as the book tells them.";
        if (met.length < 2)
            return met.length === 0
                ? "With this budget the search finds none of the evidence."
                : "With this budget the search finds one piece of evidence: no order can matter yet.";
        const told = listed(met.map((n) => EN[n] ?? `${n}th`));
        return order === "score"
            ? `By score, the model meets the evidence in this order: ${told}.${rising(met) ? "" : " The model has to put them in order by itself."}`
            : `In the book’s order, the evidence comes as it happened: ${told}. The passages are the same; only their order has changed.`;
    },
    missing: (n: number) => `${many(n, "piece", "pieces")} of evidence ${n === 1 ? "was" : "were"} not found in this book.`,
    how: "How",
    howNow: (retriever: string, neighbours: number) =>
        ({ bm25: "by words", dense: "by meaning", hybrid: "by words and meaning" })[retriever] + (neighbours > 0 ? `, ${neighbours} more on each side` : ""),
    standard: "(default)",
    retriever: "Ranked",
    retrievers: { bm25: "by words (BM25)", dense: "by meaning (embedding model)", hybrid: "by both" },
    neighbours: "Also the passages beside a match",
    neighboursOf: (n: number) => (n === 0 ? "none (default)" : `${n} on each side`),
    compute: "Vectors are computed",
    computes: { automatic: "on what is there (default)", processor: "on the processor", tract: "on the processor, by tract", webgpu: "by WebGPU" },
    embeddingModel: (name: string) => `Embedding model: ${name}`,
    ownModel: "Take another model, from files",
    ownModelHint:
        "model.toml, tokenizer.json and model.onnx of a folder as “closeread model” has them, chosen together. " +
        "The encoder runs those that closeread wrote, tract any other ONNX file.",
    lacksFiles: (names: string[]) =>
        `not chosen: ${names.join(", ")}. A model has three files: model.toml, tokenizer.json and model.onnx; choose them together.`,
    backToShipped: (name: string) => `Back to ${name}`,
    curve: "Evidence found, by budget",
    curveNote: "At each stop of the slider. Choose a budget here, too.",
    recallName: "found",
    places: "Places in the book, by budget",
    placesNote: "How many separate places the passages come from. Open a passage and say “This proves the answer” to see how soon it is found.",
    placesName: "places",
    worth: "The ranking, measured",
    worthNote: "In percent, for this one question, as “closeread retrieve” measures it over many.",
    firstPassages: "First passages",
    hit: "any evidence",
    recallAt: "evidence found",
    precisionAt: "evidence among them",
    mrr: "Reciprocal rank of the first piece",
    precision: "share of the text within the budget that is evidence",
    budgetAxis: "tokens of passages",
    percent,
    count: (n: number) => shown(Math.round(n)),
    unknownLanguage: (model: string, language: string) => `${model} does not know the language “${language}”: ranked by words.`,
    fetching: (done: number, total: number) =>
        total === 0
            ? "The embedding model is being fetched …"
            : `The embedding model is being fetched: ${(done / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB.`,
    embedding: (done: number, total: number, workers: number, arithmetic: string) =>
        `${shown(done)} of ${shown(total)} passages embedded, nearest first; ${many(workers, "worker", "workers")}, ${arithmetic}.`,
    left: (seconds: number | undefined) =>
        seconds === undefined
            ? ""
            : seconds < 90
              ? ` About ${shown(Math.max(1, Math.round(seconds)))} s left.`
              : ` About ${shown(Math.round(seconds / 60))} min left.`,
    trouble: (reason: string) => (reason === "" ? "" : ` WebGPU is not used: ${reason}.`),
    paused: (done: number, total: number) => `Paused: ${shown(done)} of ${shown(total)} passages have vectors, and are ranked by them.`,
    pause: "Pause",
    resume: "Go on",
    complete: (total: number, kept: number, isKept: boolean) =>
        kept === total
            ? `All ${shown(total)} passages have vectors, kept from an earlier visit.`
            : isKept
              ? `All ${shown(total)} passages have vectors; they are kept in this browser.`
              : `All ${shown(total)} passages have vectors. This browser has no room or leave to keep them: the next visit computes them again.`,
    failed: (message: string) => `The encoder stopped: ${message}. Ranked as far as vectors have come.`,
};

const ZH = ["", "第一", "第二", "第三", "第四", "第五", "第六", "第七", "第八"];

export const zh: typeof en = {
    heading: "检索",
    lead: "就你的一本书提一个问题，看检索会把哪些段落、按什么顺序交给模型。",
    chooseBook: "选一本书",
    orDrop: "也可拖放到窗口任意处。",
    question: "问题",
    askPlaceholder: "就这本书提一个问题",
    fromSample: "或选一个已知答案的问题",
    chooseQuestion: "请选择……",
    search: "检索",
    answers: "标准答案",
    budget: "预算",
    tokens: (n) => `${shown(n)} 个 token`,
    nothing: "问题里的词没有一个出现在书中，因此没有检索到段落。请换个说法，或按语义排序。",
    nothingInPairs: "中文按相邻两字检索，问题里的任何两字都没有出现在书中。请换个说法，至少两个字。",
    summary: (n, of, matched) =>
        n === 0 ? "此预算放不下任何段落。" : `${shown(of)} 个段落中的 ${shown(n)} 个${matched < n ? `，其中 ${shown(matched)} 个含有问题里的词` : ""}`,
    and: " · ",
    pieces: (n, of) => `${shown(of)} 处证据中的 ${shown(n)} 处`,
    ribbon: (n, evidence, found) => `全书从头到尾：检索到 ${shown(n)} 个段落${evidence > 0 ? `，包含 ${shown(evidence)} 处证据中的 ${shown(found)} 处` : ""}`,
    order: (order, met, of) => {
        if (of === 0) return order === "score" ? "按得分，最匹配的在前，不论它在书中何处。" : "按书中顺序，同样的段落依书的叙述先后而来。";
        if (met.length < 2) return met.length === 0 ? "在此预算下，检索没有找到任何证据。" : "在此预算下只找到一处证据：顺序还无关紧要。";
        const told = met.map((n) => ZH[n] ?? `第 ${n}`).join("、");
        return order === "score"
            ? `按得分，模型遇到证据的先后是：${told}。${rising(met) ? "" : "它得自己把顺序理清。"}`
            : `按书中顺序，证据依发生的先后而来：${told}。段落完全相同，只有顺序变了。`;
    },
    missing: (n) => `有 ${shown(n)} 处证据在这本书中没有找到。`,
    how: "方式",
    howNow: (retriever, neighbours) =>
        ({ bm25: "按词", dense: "按语义", hybrid: "按词和语义" })[retriever] + (neighbours > 0 ? `，两侧各附 ${neighbours} 段` : ""),
    standard: "（默认）",
    retriever: "排序",
    retrievers: { bm25: "按词（BM25）", dense: "按语义（嵌入模型）", hybrid: "两者结合" },
    neighbours: "附带相邻段落",
    neighboursOf: (n) => (n === 0 ? "不附带（默认）" : `两侧各 ${n} 段`),
    compute: "向量的计算",
    computes: { automatic: "自动选择（默认）", processor: "用处理器", tract: "用处理器（tract）", webgpu: "用 WebGPU" },
    embeddingModel: (name) => `嵌入模型：${name}`,
    ownModel: "改用其他模型的文件",
    ownModelHint:
        "“closeread model” 文件夹中的 model.toml、tokenizer.json 和 model.onnx，请一起选择。" +
        "由 closeread 写出的模型用自带编码器运行，其他 ONNX 文件用 tract 运行。",
    lacksFiles: (names) => `未选择：${names.join("、")}。一个模型有三个文件：model.toml、tokenizer.json 和 model.onnx，请一起选择。`,
    backToShipped: (name) => `恢复 ${name}`,
    curve: "各预算下找到的证据",
    curveNote: "滑块的每一档各一个值。也可在此选择预算。",
    recallName: "找到",
    places: "各预算下涉及书中几处",
    placesNote: "段落来自书中多少个不相连的地方。打开一个段落，选“这段能证明答案”，即可看到多大预算能找到它。",
    placesName: "处",
    worth: "排序的度量",
    worthNote: "单位为百分比，只就这一个问题；“closeread retrieve” 对许多问题这样度量。",
    firstPassages: "前几段",
    hit: "有证据",
    recallAt: "找到的证据",
    precisionAt: "其中的证据",
    mrr: "第一处证据的排名倒数",
    precision: "预算内的文字有多少是证据",
    budgetAxis: "段落的 token 数",
    percent,
    count: (n) => shown(Math.round(n)),
    unknownLanguage: (model, language) => `${model} 不支持语言“${language}”，改为按词排序。`,
    fetching: (done, total) => (total === 0 ? "正在获取嵌入模型……" : `正在获取嵌入模型：${(done / 1e6).toFixed(0)} / ${(total / 1e6).toFixed(0)} MB。`),
    embedding: (done, total, workers, arithmetic) =>
        `已编码 ${shown(total)} 个段落中的 ${shown(done)} 个，相近者优先；${shown(workers)} 个 worker，${arithmetic}。`,
    left: (seconds) =>
        seconds === undefined ? "" : seconds < 90 ? `约剩 ${shown(Math.max(1, Math.round(seconds)))} 秒。` : `约剩 ${shown(Math.round(seconds / 60))} 分钟。`,
    trouble: (reason) => (reason === "" ? "" : `未使用 WebGPU：${reason}。`),
    paused: (done, total) => `已暂停：${shown(total)} 个段落中 ${shown(done)} 个有向量，并据此排序。`,
    pause: "暂停",
    resume: "继续",
    complete: (total, kept, isKept) =>
        kept === total
            ? `全部 ${shown(total)} 个段落已有向量，来自之前的访问。`
            : isKept
              ? `全部 ${shown(total)} 个段落已有向量，保存在此浏览器中。`
              : `全部 ${shown(total)} 个段落已有向量。浏览器没有空间或不允许保存：下次访问需要重新计算。`,
    failed: (message) => `编码器已停止：${message}。按现有向量排序。`,
};
