import type { Facts } from "../messages/book.js";
import { shown } from "./index.js";

const EN = new Intl.DisplayNames("en", { type: "language" });
const ZH = new Intl.DisplayNames("zh", { type: "language" });
const counted = (n: number, one: string, many: string) => `${shown(n)} ${n === 1 ? one : many}`;
/** Files that are named where there are more. */
const NAMED = 5;
const named = (names: readonly string[], comma: string) => names.slice(0, NAMED).join(comma);

export const en = {
    essayTitle: "Does order matter?",
    skip: "Skip to the content",
    home: "closeread, start",
    views: "Views",
    verbs: { find: "Find", ask: "Ask", watch: "Watch", runs: "Runs", model: "Model" },
    language: "Language",
    languageName: (code: string) => EN.of(code) ?? code,
    tokens: (n: string) => (n === "1" ? "1 token" : `${n} tokens`),
    book: "Book",
    chooseBook: "Choose a book",
    stays: "A book stays in this browser. Nothing is uploaded.",
    file: "Open a file",
    orDrop: ".txt, .md, .epub or .html; or drop one anywhere in the window.",
    sample: "From the sample",
    recent: "Opened before, kept in this browser",
    forget: "Forget",
    forgetOne: (title: string) => `Forget ${title}`,
    paste: "Paste a text",
    pasteHere: "Text of a book",
    openPasted: "Open this text",
    pasted: "pasted text",
    close: "Close",
    drop: "Drop it: a book, or the folder of a run",
    noBook: "No book is open.",
    notHere: "This browser does not have the book of this address. Open its file, and the address works here too.",
    notOpened: (names: readonly string[]) =>
        `One file is opened at a time. Not opened: ${named(names, ", ")}${names.length > NAMED ? ` and ${shown(names.length - NAMED)} more` : ""}.`,
    bookNotKept: "This browser has no room or leave to keep this book: it is open until you close or reload this tab.",
    reading: (name: string) => `Reading ${name} …`,
    kept: "The book before it is still open.",
    opened: (name: string, { nTokens, nPassages, language, encoding }: Facts) =>
        `${name}: ${counted(nTokens, "token", "tokens")} in ${counted(nPassages, "passage", "passages")}; ${EN.of(language) ?? language}, ${encoding}.`,
    fetchFailed: (url: string, why: string) => `${url} cannot be read: ${why}`,
    partGone: "A part of this page cannot be fetched: there is a new version, or its server does not answer. Reload the page.",
    copyLink: "Copy link",
    copiedShort: "Copied",
    copied: "The link was copied.",
    notCopied: "The browser lets this page copy nothing: select the text, or the address, and copy it yourself.",
    copiedOwn: "The link was copied. It opens this book where this browser, or another one, has opened the same file.",
};

export const zh: typeof en = {
    essayTitle: "顺序重要吗？",
    skip: "跳到正文",
    home: "closeread 首页",
    views: "视图",
    verbs: { find: "检索", ask: "提问", watch: "旁观", runs: "运行", model: "模型" },
    language: "语言",
    languageName: (code) => ZH.of(code) ?? code,
    tokens: (n) => `${n} 个 token`,
    book: "书",
    chooseBook: "选一本书",
    stays: "书只留在这个浏览器里，不会上传任何内容。",
    file: "打开文件",
    orDrop: "支持 .txt、.md、.epub、.html；也可拖放到窗口任意处。",
    sample: "示例作品",
    recent: "曾经打开过，保存在此浏览器",
    forget: "忘记",
    forgetOne: (title) => `忘记《${title}》`,
    paste: "粘贴文本",
    pasteHere: "书的文本",
    openPasted: "打开这段文本",
    pasted: "粘贴的文本",
    close: "关闭",
    drop: "放在这里：一本书，或一次运行的文件夹",
    noBook: "还没有打开书。",
    notHere: "此浏览器里没有这个地址所指的书。请打开它的文件，地址便在这里生效。",
    notOpened: (names) => `一次只打开一个文件。未打开：${named(names, "、")}${names.length > NAMED ? `等 ${shown(names.length)} 个文件` : ""}。`,
    bookNotKept: "浏览器没有空间或不允许保存这本书：关闭或刷新此标签页后需要重新打开。",
    reading: (name) => `正在读取 ${name}……`,
    kept: "之前的书仍然打开着。",
    opened: (name, { nTokens, nPassages, language, encoding }) =>
        `${name}：${shown(nTokens)} 个 token，${shown(nPassages)} 个段落；${ZH.of(language) ?? language}，编码 ${encoding}。`,
    fetchFailed: (url, why) => `无法读取 ${url}：${why}`,
    partGone: "无法读取此页面的一部分：页面已有新版本，或服务器没有响应。请刷新页面。",
    copyLink: "复制链接",
    copiedShort: "已复制",
    copied: "链接已复制。",
    notCopied: "浏览器不允许此页面复制：请自行选中文字或地址栏中的地址来复制。",
    copiedOwn: "链接已复制。在打开过同一文件的浏览器里，它会打开这本书。",
};
