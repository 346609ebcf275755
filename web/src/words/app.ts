import { shown } from "./index.js";
import type { Facts } from "../messages/book.js";

const LANGUAGES: Record<string, string> = { en: "English", zh: "Chinese" };

export const en = {
    title: "closeread: long books, read by machines",
    lead: "What does a method hand to the model, and why? Everything is computed here; a book stays in this browser.",
    skip: "Skip to the content",
    views: "Views",
    lab: "Retrieval lab",
    theatre: "Method theatre",
    runs: "Run viewer",
    language: "Language",
    book: "Book",
    file: "A .txt, .md or .epub file; or drop one anywhere on the page",
    sample: "Or a sample work",
    chooseSample: "choose …",
    paste: "Or pasted text",
    pasteHere: "Text of a book",
    openPasted: "Open this text",
    pasted: "pasted text",
    noBook: "No book yet.",
    reading: (name: string) => `Reading ${name} …`,
    kept: "The book before it is still open.",
    opened: (name: string, { nTokens, nPassages, language, encoding }: Facts) =>
        `${name}: ${shown(nTokens)} tokens in ${shown(nPassages)} passages; ${LANGUAGES[language] ?? language}, ${encoding}.`,
    fetchFailed: (url: string, why: string) => `${url} cannot be read: ${why}`,
};

export const zh: typeof en = {
    title: "closeread：让机器读长书",
    lead: "每种方法交给模型的是什么，为什么？一切都在本页计算，书不会离开这个浏览器。",
    skip: "跳到正文",
    views: "视图",
    lab: "检索实验室",
    theatre: "方法剧场",
    runs: "运行查看器",
    language: "语言",
    book: "书",
    file: "选择 .txt、.md 或 .epub 文件，也可拖放到页面任意处",
    sample: "或选一部示例作品",
    chooseSample: "请选择……",
    paste: "或粘贴文本",
    pasteHere: "书的文本",
    openPasted: "打开这段文本",
    pasted: "粘贴的文本",
    noBook: "还没有书。",
    reading: (name) => `正在读取 ${name}……`,
    kept: "之前的书仍然打开着。",
    opened: (name, { nTokens, nPassages, language, encoding }) =>
        `${name}：${shown(nTokens)} 个 token，${shown(nPassages)} 个段落；语言 ${language}，编码 ${encoding}。`,
    fetchFailed: (url, why) => `无法读取 ${url}：${why}`,
};
