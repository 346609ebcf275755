"""Vectors for the readers of answers: parse_corpusqa.json, parse_infinitebench.json, memagent.json.

The reference scripts are on no package registry, so their published rules are restated here in Python, whose strings
they were written for. `check_parsers` holds the restatement to vectors that the scripts themselves made.
"""

import json
import re
import string
from collections import Counter

import make_agents

BOX = "\\boxed"
CHINESE_MARKS = (
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏."
)

REPLIES = [
    "", "  \n", "B", "B.", " (B)", "b", "Both of them", "Driftwood", "driftwood", "Driftwood.", "“Driftwood”",
    "The answer is: B", "The answer is:B", "the answer is: Driftwood, I think", "The answer is: ", "My answer: A", "my answer:  B",
    "so the option is B", "answer is C, no, the answer is: B", "I would say B", "I would say {B}", "It is BC or B",
    "It is\u3000B", "It is\u200bB", "the final answer is\nB", "one\x1cB", "答案：B", "Anna said DRIFTWOOD", "anna", "Anna's",
    "The answer is: [\"Ash Lane\", \"Elm Row\"]", "**The answer is: 7,50**", "The answer is: 3.5\r\nThe answer is: 4",
    "so The answer is:  2024-11 \nend", "The Answer is: 9", "The answer is：9", "\u3000The answer is: \u3000x\u3000",
    "\\boxed{12}", "\\boxed{a{b}c} and \\boxed{ d }", "\\boxed 12$ or 13", "\\boxed{12} \\boxed 13", "\\boxed{open",
    "\\fbox{12}", "\\boxedx{12}", "\\boxed}{12}", "\\boxed{{}}", "\\boxed{} end", "{\\boxed{x}", "no, the answer is *Ash Lane*.",
    "the answer is A. the answer is ... B ...", "the answer is", "a</think>b", "a</think> b </think>\n c \n", "</think>", " a ",
    "[[YES]]", "[[NO]]", "1. same\n2. [[YES]]", "[[YES]] [[NO]]", "[[ YES ]]", "[YES]", "[[yes]]",
]  # fmt: skip
ANSWERS = [
    ("A bell of bronze", ["the bronze bell", "bell"]), ("", ["bell"]), ("the", ["a"]), ("don't know", ["dont know"]),
    ("bell\x1dbell", ["bell"]), ("“the” bell", ["the bell"]), ("Bell-ringer", ["bell ringer", "bellringer"]),
    ("《借钟》", ["借钟"]), ("借 钟，Ａ。", ["借钟A"]), ("钟·借", ["钟借"]), ("钟钟", ["钟"]), ("……", ["。"]),
]  # fmt: skip
IDS = ["financial_zh_7", "financial_en", "education_en_set2_1", "real_estate_en_3", "education_zh_1", "xfinancial_en", "FINANCIAL_EN_1", ""]


def files():
    """The content of each file, by its name."""
    return {
        "parse_corpusqa.json": corpusqa(),
        "parse_infinitebench.json": infinitebench(),
        "memagent.json": memagent(),
    }


def check_parsers(folder):
    """Compares the rules here with the vectors of `folder`; gives how many cases agree, of how many."""
    agree = total = 0
    for name in files():
        for case in json.loads((folder / name).read_text(encoding="utf-8"))["cases"]:
            rule = RULES.get((case["id"].split("-")[0], case["group"].removesuffix("_constructed")))
            if rule is None:
                continue
            got = rule(case["prediction"], case["label"]) if "label" in case else rule(case["input"])
            expected = case["expected"]
            if isinstance(expected, dict) and "error" in expected:
                expected = None
            same = abs(got - expected) < 1e-12 if isinstance(expected, float) else got == expected
            agree, total = agree + same, total + 1
            if not same:
                print(f"{name} {case['id']}: {got!r} instead of {expected!r}")
    return agree, total


def corpusqa():
    cases = numbered("cqa", (
        *(("extract_answer", {"input": reply}) for reply in REPLIES),
        *(("judge_verdict", {"input": reply}) for reply in REPLIES if "YES" in reply or "NO" in reply or len(reply) < 3),
        *(("domain", {"input": identifier}) for identifier in IDS),
    ))  # fmt: skip
    return {"schema": "parse_corpusqa/1", "generated_with": made_by("CorpusQA src/eval.py"), "cases": cases}


def infinitebench():
    gold = ["Driftwood", "B"]
    cases = numbered("ib", (
        *(("longbook_choice_eng", {"prediction": reply, "label": gold}) for reply in REPLIES),
        *(("longdialogue_qa_eng", {"prediction": reply, "label": ["ANNA", "B"]}) for reply in REPLIES),
        *(("longbook_qa_eng", {"prediction": answer, "label": gold}) for answer, gold in ANSWERS),
        *(("longbook_qa_chn", {"prediction": answer, "label": gold}) for answer, gold in ANSWERS),
    ))  # fmt: skip
    return {"schema": "parse_infinitebench/1", "generated_with": made_by("InfiniteBench src/compute_scores.py"), "cases": cases}


def memagent():
    groups = ("extract_boxed_answer", "extract_answer", "strip_thinking")
    cases = numbered("ma", ((group, {"input": reply}) for group in groups for reply in REPLIES))
    cases += make_agents.memagent_cases()
    return {"schema": "memagent/1", "generated_with": made_by("MemAgent taskutils/memory_eval"), "cases": cases}


def made_by(script):
    return {"make_parsers.py": f"rules of {script}, restated"}


def numbered(prefix, cases):
    made = []
    for number, (group, case) in enumerate(cases, 1):
        expected = RULES[prefix, group](*case.values())
        made.append({"id": f"{prefix}-{number:03}", "group": group, **case, "expected": expected})
    return made


def corpusqa_answer(reply):
    _, found, rest = reply.partition("The answer is: ")
    return (rest.partition("\n")[0] if found else reply).strip()


def corpusqa_verdict(reply):
    return {"correct": "[[YES]]" in reply and "[[NO]]" not in reply, "reason": reply}


def corpusqa_domain(identifier):
    domains = ("financial_zh", "financial_en", "education_en", "real_estate_en")
    return next((domain for domain in domains if identifier.startswith(domain)), None)


def infinitebench_choice(reply, gold):
    reply = reply.strip()
    if not reply:
        return 0.0
    if reply[0] in "ABCD":
        return float(reply[0] in gold)
    if reply in gold:
        return 1.0
    reply = reply.translate(str.maketrans(dict.fromkeys("\n\"'.,?!{}", " ")))
    while "  " in reply:
        reply = reply.replace("  ", " ")
    for announced in ("answer is:", "answer:", "answer is", "option is"):
        if announced in reply:
            rest = reply.split(announced, 1)[1]
            return float(rest != "" and rest[1:].startswith(tuple(gold)))
    return float(next((word in gold for word in reply.split() if word in "ABCD"), False))


def infinitebench_dialogue(reply, gold):
    words = reply.translate(str.maketrans(dict.fromkeys("\n:\"'.,?!{}", " "))).split()
    return float(gold[0] in [word.upper() for word in words])


def best_f1(tokens):
    def score(answer, gold):
        return max(f1(tokens(answer), tokens(reference)) for reference in gold)

    return score


def f1(answer, gold):
    same = sum((Counter(answer) & Counter(gold)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(answer), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def squad_tokens(text):
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def characters(text):
    return "".join("".join(c for c in text.lower() if c not in string.punctuation + CHINESE_MARKS).split())


def memagent_boxed(reply):
    if BOX + " " in reply:
        return reply.rsplit(BOX + " ", 1)[1].split("$")[0]
    if BOX not in reply:
        return None
    rest = reply.rsplit(BOX, 1)[1]
    depth = 0
    for at, character in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "}" and depth == 0:
            return rest[1:at] if rest[0] == "{" else None
    return None


def memagent_answer(reply):
    _, found, rest = reply.replace("*", "").rpartition("the answer is")
    return rest.strip().strip(".").strip() if found else None


def strip_thinking(reply):
    _, found, rest = reply.rpartition("</think>")
    return rest.strip() if found else reply


RULES = {
    ("ma", "extract_answer"): memagent_answer,
    ("cqa", "extract_answer"): corpusqa_answer,
    ("cqa", "judge_verdict"): corpusqa_verdict,
    ("cqa", "domain"): corpusqa_domain,
    ("ib", "longbook_choice_eng"): infinitebench_choice,
    ("ib", "longdialogue_qa_eng"): infinitebench_dialogue,
    ("ib", "longbook_qa_eng"): best_f1(squad_tokens),
    ("ib", "longbook_qa_chn"): best_f1(characters),
    ("ma", "extract_boxed_answer"): memagent_boxed,
    ("ma", "strip_thinking"): strip_thinking,
}
