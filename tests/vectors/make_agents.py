"""Vectors for the agents: readagent.json, and the groups of memagent.json that are no reading of replies.

Both reference implementations are a notebook and a script on no package registry, so their published rules are restated here
in Python, whose strings they were written for. `check_agents` holds the restatement to vectors that the code itself made.
"""

import json
import re
import string
from collections import Counter
from pathlib import Path

MIN_WORDS = 350
BREAKS = [
    "Break point: <4>\nBecause the day ends.", "<4>", "point <41>", "Break  point:<4>", "Break point: <4", "4", "<four>", "<4.>",
    "Break point: < 4>", "<٤>", "<４>", "<①>", "<½>", "<>", "", " ", ":", "At <4>", "`<4>`", "<4><5>", "<-4>", "<007>",
]  # fmt: skip
LOOK_UPS = [
    "I want to look up Page [2] to see.", "Page [0, 4]", "[4,0]", "[ 1 ,\n2 ]", "[1, 1]", "[5]", "[-1, 2]", "[]", "", "STOP", "2",
    "[Page 1, 2]", "see [1] and [2]", "]1[ [2]", "[[1]]", "[1-3]", "[1 2]", "[1.0]", "[０, ２]", "[②, 1, x]", "[1", "1]",
]  # fmt: skip
SHAPES = {
    "waves": [40 * (number % 7) + 15 for number in range(40)],
    "giants": [900, 1, 700, 2, 610],
    "blank": [0, 300, 0, 0, 300, 0, 0, 0, 90],
    "at_the_stop": [100, 100, 149, 1],
    "below_the_stop": [100, 100, 149],
    "at_the_start": [270, 9, 1, 200],
    "at_the_limit": [599, 1, 600, 601],
    "alone": [349],
    "nothing": [],
}
POLICIES = {
    "first": lambda labels: f"Break point: <{labels[0]}>",
    "middle": lambda labels: f"Break point: <{labels[len(labels) // 2]}>\nIt is quiet there.",
    "last": lambda labels: f"Break point: <{labels[-1]}>",
    "unoffered": lambda labels: f"Break point: <{labels[0] - 1}>",
    "beyond": lambda labels: f"Break point: <{labels[-1] + 1}>",
    "none": lambda labels: "Anywhere.",
}
LOOPS = [
    (0, 5, 9, None), (1, 5, 9, None), (5, 5, 9, None), (9, 5, 9, None), (10, 5, 9, None), (11, 3, 1, None), (40, 7, 10, None),
    (12, 5, 100, ["a", "<think>no</think> b ", "c</think>", ""]), (4, 5, 100, ["", "\\boxed{x}"]),
]  # fmt: skip
SCORES = [
    ("The bell", "bell"), ("a bell of bronze", "bronze"), ("bell", "a bell of bronze"), ("yes", "no"), ("yes, it rang", "yes"),
    ("No.", "no"), ("noanswer", "bell"), ("", ""), ("", "bell"), ("the", "a"), ("tin", "bell"), ("don't", "dont"),
]  # fmt: skip


def files():
    """The content of each file, by its name."""
    groups = [
        *(("parse_pause_point", {"input": reply}) for reply in BREAKS),
        *(("look_up_pages", {"input": reply, "n_pages": 5}) for reply in LOOK_UPS),
        *(("pagination", {"input": pagination_input(shape, policy)}) for shape in SHAPES for policy in POLICIES),
    ]
    cases = [
        {"id": f"ra-{number:03}", "group": group, **case, "expected": RULES[group](case)}
        for number, (group, case) in enumerate(groups, 1)
    ]
    return {"readagent.json": {"schema": "readagent/1", "generated_with": made_by("ReadAgent's notebook"), "cases": cases}}


def memagent_cases():
    """The groups that run the loop and score answers."""
    names = ("context_tokens", "chunk_size", "max_context", "model_replies")
    groups = [
        *(("memory_loop", {"input": dict(zip(names, loop, strict=True))}) for loop in LOOPS),
        *(("answer_scores", {"input": {"prediction": said, "gold": gold}}) for said, gold in SCORES),
    ]
    return [
        {"id": f"ma-{group}-{number:02}", "group": group, **case, "expected": RULES[group](case)}
        for number, (group, case) in enumerate(groups, 1)
    ]


def check_agents(folder):
    """Compares the rules here with the vectors of `folder`; gives how many cases agree, of how many."""
    agree = total = 0
    for name in ("readagent.json", "memagent.json"):
        for case in json.loads((Path(folder) / name).read_text(encoding="utf-8"))["cases"]:
            if case["group"] not in RULES:
                continue
            got, expected = RULES[case["group"]](case), case["expected"]
            if isinstance(expected, dict) and "error" in expected:
                expected = None
            agree, total = agree + (got == expected), total + 1
            if got != expected:
                print(f"{name} {case['id']}: {got!r} instead of {expected!r}")
    return agree, total


def made_by(script):
    return {"make_agents.py": f"rules of {script}, restated"}


def number(digits):
    """What `int` makes of a numeric string; nothing where it raises an error."""
    try:
        return int(digits) if digits.isnumeric() else None
    except ValueError:
        return None


def break_point(reply):
    label = reply.strip().strip("Break point: ")
    return number(label[1:].partition(">")[0]) if label[:1] == "<" and ">" in label else None


def look_up_pages(case):
    reply, n_pages = case["input"], case["n_pages"]
    named = reply[reply.index("[") + 1 : reply.index("]")] if "[" in reply and "]" in reply else ""
    pages = [page for page in map(number, map(str.strip, named.split(","))) if page is not None and page < n_pages]
    text = "page {0} line one.\npage {0} line two."
    shown = [text.format(page) if page in pages else f"gist {page}" for page in range(n_pages)]
    return {"pages": pages, "context": "\n".join(shown)}


def pagination_input(shape, policy):
    words = SHAPES[shape]
    return {"shape": shape, "paragraph_word_counts": words, "policy": policy, "word_limit": 600, "start_threshold": 280}


def pagination(case):
    given = case["input"]
    words, policy = given["paragraph_word_counts"], POLICIES.get(given["policy"])
    # A file of the notebook's own vectors says what its policies replied.
    replies = iter(prompt["response"] for prompt in case.get("expected", {}).get("prompts", []))
    pages, prompts, start = [], [], 0
    while start < len(words):
        count, end, labels = words[start], start + 1, []
        while count < given["word_limit"] and end < len(words):
            count += words[end]
            if count >= given["start_threshold"]:
                labels.append(end)
            end += 1
        labels.append(end)
        if count < MIN_WORDS:
            pause = len(words)
        else:
            reply = next(replies) if "expected" in case else policy(labels)
            prompts.append({"labels_offered": labels, "response": reply})
            pause = break_point(reply)
            if pause is None or not start < pause <= end:
                pause = end
        pages.append([start, pause])
        start = pause
    return {"paragraph_word_counts": words, "pages": pages, "prompts": prompts}


def memory_loop(case):
    given = case["input"]
    n, size, most, replies = (given[name] for name in ("context_tokens", "chunk_size", "max_context", "model_replies"))
    tokens = list(range(n))
    if n > most:
        tokens = tokens[: most // 2] + tokens[-most // 2 :]
    memory, calls = "No previous memory", []

    def reply():
        listed = replies is not None and len(calls) <= len(replies)
        return replies[len(calls) - 1] if listed else f"memory after {len(calls)}"

    for start in range(0, len(tokens), size):
        calls.append({"kind": "update", "memory_in": memory, "token_ranges": ranges(tokens[start : start + size])})
        said = reply()
        memory = said.rpartition("</think>")[2].strip() if "</think>" in said else said
    calls.append({"kind": "final", "memory_in": memory})
    return {"calls": calls, "final_response": reply()}


def ranges(tokens):
    found = []
    for token in tokens:
        if found and found[-1][1] == token:
            found[-1][1] = token + 1
        else:
            found.append([token, token + 1])
    return found


def answer_scores(case):
    said, gold = (normalized(case["input"][side]) for side in ("prediction", "gold"))
    verdicts = {"yes", "no", "noanswer"}
    f1 = 0 if said != gold and {said, gold} & verdicts else token_f1(said.split(), gold.split())
    return {"em": said == gold, "sub_em": gold in said or said in gold, "f1": f1}


def normalized(text):
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def token_f1(said, gold):
    same = sum((Counter(said) & Counter(gold)).values())
    if same == 0:
        return 0
    precision, recall = same / len(said), same / len(gold)
    return 2 * precision * recall / (precision + recall)


RULES = {
    "parse_pause_point": lambda case: break_point(case["input"]),
    "look_up_pages": look_up_pages,
    "pagination": pagination,
    "memory_loop": memory_loop,
    "answer_scores": answer_scores,
}
