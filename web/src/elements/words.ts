// What the elements say, in the language of the page around them.

const ENGLISH = {
    predictions: "Predictions, a file of JSON lines; or drop one here",
    scoring: "Scoring …",
    complete: (items: number) => `All ${items} items have a prediction.`,
    incomplete: (missing: number, items: number) =>
        `Incomplete: ${missing} of ${items} items have no prediction. This is not the score of a whole run.`,
    problems: (n: number) => n === 1 ? "1 row could not be used; it is listed below." : `${n} rows could not be used; they are listed below.`,
    nothingUsable: (name: string) => `No row of ${name} could be used, so there is no score. Expected one JSON object a line, such as {"item": "q1", "answer": "in the mill"}; the example file has one for every item.`,
    example: "Download an example file", yourAnswer: "your answer",
    byItem: (n: number) => `Item by item, ${n}`, saveItems: "All items as CSV",
    search: "Search systems", saveBoard: "Save as CSV", found: (n: number, of: number) => `${n} of ${of} systems.`,
    scores: "Scores, percent, with 95% intervals",
    metric: "metric", score: "score", interval: "interval", over: "items",
    ledger: "How the items ended", outcome: "outcome", items: "items",
    rows: "Rows that could not be used", file: "file", line: "line", item: "item", message: "what is wrong",
    more: (n: number) => `and ${n} more, in the JSON`,
    notes: "Notes",
    download: "Download the scores (JSON)",
    noGold: "the attribute `gold` must name the file with the gold answers",
    notFound: (url: string, why: string) => `${url} cannot be read: ${why}`,
    rank: "rank", name: "system", main: "main score", verify: "check",
    verifyRow: (name: string) => `check: score ${name} again from its predictions, in this tab`,
    verifying: "scoring …",
    verified: "the same numbers",
    differs: (what: string) => `not the same: ${what}`,
    unranked: "incomplete",
    sorted: (column: string, down: boolean) => `Sorted by ${column}, ${down ? "highest" : "lowest"} first.`,
    board: "Leaderboard",
};

const CHINESE: typeof ENGLISH = {
    predictions: "预测文件（每行一个 JSON），也可拖放到此处",
    scoring: "正在评分……",
    complete: (items) => `全部 ${items} 道题都有预测。`,
    incomplete: (missing, items) => `不完整：${items} 道题中有 ${missing} 道没有预测，这不是一次完整运行的分数。`,
    problems: (n) => `有 ${n} 行无法使用，见下表。`,
    nothingUsable: (name) => `${name} 中没有一行可用，因此没有分数。需要每行一个 JSON 对象，如 {"item": "q1", "answer": "磨坊里"}；示例文件里每道题都有一行。`,
    example: "下载示例文件", yourAnswer: "你的回答",
    byItem: (n) => `逐题结果，${n} 道`, saveItems: "全部题目存为 CSV",
    search: "搜索系统", saveBoard: "存为 CSV", found: (n, of) => `${of} 个系统中的 ${n} 个。`,
    scores: "分数（百分比）及 95% 区间",
    metric: "指标", score: "分数", interval: "区间", over: "题数",
    ledger: "各题结果", outcome: "结果", items: "题数",
    rows: "无法使用的行", file: "文件", line: "行", item: "题目", message: "问题",
    more: (n) => `另有 ${n} 行，见 JSON`,
    notes: "说明",
    download: "下载分数（JSON）",
    noGold: "属性 `gold` 须给出标准答案文件",
    notFound: (url, why) => `无法读取 ${url}：${why}`,
    rank: "名次", name: "系统", main: "主要分数", verify: "核对",
    verifyRow: (name) => `核对：在本页用 ${name} 的预测重新评分`,
    verifying: "正在评分……",
    verified: "分数一致",
    differs: (what) => `分数不一致：${what}`,
    unranked: "不完整",
    sorted: (column, down) => `按${column}排序，${down ? "从高到低" : "从低到高"}。`,
    board: "排行榜",
};

export type Words = typeof ENGLISH;

export function words(host: Element): Words {
    const language = host.closest("[lang]")?.getAttribute("lang") ?? "en";
    return language.toLowerCase().startsWith("zh") ? CHINESE : ENGLISH;
}
