#!/usr/bin/env python3
"""The tables of Stronger Baselines from run folders, by the paper's definitions, held against a report cell by cell.

    stronger_baselines.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper stronger-baselines --json`. Tables 1 to 4: mean over the repeats of each repeat's
accuracy, with the sample deviation; a call that failed for good is in no denominator (the authors' code drops it), or wrong in
the tables of the other reading; QuALITY's hard questions apart. Figures: the same over the mean tokens of the prompts. Of
NarrativeQA's runs Table 5: F1 by SQuAD, ROUGE-L by words and METEOR (Lavie and Agarwal 2007), all means; BLEU of the corpus.
Exit code 1 if a cell differs.
"""

import math
import re
import sys
from collections import Counter

from records import Run, check, deviation, mean, percent

METHODS = ["vanilla-rag", "dos-rag", "full-document"]
ENDINGS = ["answered", "unparsed", "cut_short", "blocked", "failed", "overflow"]
# The reader never got to answer.
FAILURES = {"cut_short", "blocked", "failed", "overflow"}


def repeats(run):
    return sorted({repeat for *_, repeat in run.trials})


def score(run, method, budget, left_out, difficulty=None):
    """Mean and deviation over repeats; one repeat's value is over the items that count in it."""
    of_kind = [i for i, item in run.items.items() if difficulty in (None, item.get("labels", {}).get("difficulty"))]

    def of(repeat):
        items = [i for i in of_kind if not (left_out and run.ending(method, i, budget, repeat) in FAILURES)]
        return percent([run.right(method, item, budget, repeat) for item in items])

    values = [value for value in map(of, repeats(run)) if value is not None]
    return (mean(values), deviation(values))


def tokens(run, method, budget):
    trials = [trial for key, trial in run.trials.items() if key[:2] == (method, budget)]
    return mean([trial["prompt_tokens"] for trial in trials if trial["prompt_tokens"]])


def overlap(said, gold):
    """F1 of two lists of words."""
    common = sum((Counter(said) & Counter(gold)).values())
    return 2 * common / (len(said) + len(gold)) if common else 0.0


def f1(said, gold):
    plain = lambda text: re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split()
    return overlap(plain(said), plain(gold))


def rouge_l(said, gold):
    a, b = (re.findall("[a-z0-9]+", text.lower()) for text in (said, gold))
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            longest[i + 1][j + 1] = longest[i][j] + 1 if x == y else max(longest[i][j + 1], longest[i + 1][j])
    return 2 * longest[-1][-1] / (len(a) + len(b)) if longest[-1][-1] else 0.0


def bleu(pairs, order):
    """Of the corpus, without smoothing."""
    pairs = [[re.findall(r"\w+|[^\w\s]", text) for text in pair] for pair in pairs]
    grams = lambda words, n: Counter(tuple(words[i:i + n]) for i in range(len(words) - n + 1))
    logs = 0.0
    for n in range(1, order + 1):
        hits = sum(sum((grams(said, n) & grams(gold, n)).values()) for said, gold in pairs)
        if not hits:
            return 0.0
        logs += math.log(hits / sum(max(len(said) - n + 1, 0) for said, _ in pairs)) / order
    said, gold = (sum(len(pair[at]) for pair in pairs) for at in (0, 1))
    return math.exp(logs) * (1 if said > gold else math.exp(1 - gold / said))


# The answers here have no two words of one stem, and of all pairs of their words WordNet has one in common: the numeral.
SYNONYMS = {("i", "1")}


def meteor(said, gold):
    """Exact words before synonyms; 0.9 of the weight on recall, and a penalty of at most a half for matches in pieces."""
    said, gold = (re.findall(r"\w+|[^\w\s]", text.lower()) for text in (said, gold))
    found = {}
    for alike in (lambda a, b: a == b, lambda a, b: (a, b) in SYNONYMS):
        for i, a in enumerate(said):
            free = [j for j, b in enumerate(gold) if i not in found and j not in found.values() and alike(a, b)]
            if free:
                found[i] = free[0]
    if not found:
        return 0.0
    precision, recall = len(found) / len(said), len(found) / len(gold)
    pieces = sum(found.get(i - 1) != j - 1 for i, j in found.items())
    return precision * recall / (0.9 * precision + 0.1 * recall) * (1 - 0.5 * (pieces / len(found)) ** 3)


def words(run):
    """NarrativeQA: Table 5."""
    rows = []
    for method, budget in sorted(run.cells(), key=lambda cell: (METHODS.index(cell[0]), cell[1] or 0)):
        own = {item: trial for (*cell, item, _), trial in run.trials.items() if tuple(cell) == (method, budget)}
        pairs = [(trial["answer"], run.items[item]["answers"][0]) for item, trial in own.items() if trial["outcome"] == "answered"]
        each = lambda metric: 100 * mean([metric(*pair) for pair in pairs])
        scores = [each(f1), 100 * bleu(pairs, 1), 100 * bleu(pairs, 4), each(rouge_l), each(meteor)]
        rows.append([tokens(run, method, budget), *scores])
    return rows


def expected(runs):
    tables = {}
    for run in runs:
        if run.benchmark == "narrativeqa":
            tables[f"stronger-baselines-table-5-{run.name}"] = words(run)
            continue
        cells = sorted(run.cells(), key=lambda cell: (METHODS.index(cell[0]), cell[1] or 0))
        budgets = sorted({budget for _, budget in cells if budget})
        for suffix, left_out in [("", True), ("-wrong", False)]:
            of = lambda method, budget, *only: score(run, method, budget, left_out, *only) if (method, budget) in cells else None
            hard = ["hard", "not hard"] if run.benchmark == "quality" else []
            for apart, only in [("", [])] + [("-" + name.replace(" ", "-"), [name]) for name in hard]:
                tables[f"stronger-baselines-budgets{apart}{suffix}-{run.name}"] = [
                    [of(method, None, *only)] + [None] * (len(budgets) - 1) if (method, None) in cells
                    else [of(method, budget, *only) for budget in budgets] for method in METHODS]
            tables[f"stronger-baselines-tokens{suffix}-{run.name}"] = [
                [tokens(run, method, budget), of(method, budget)] for method, budget in cells
                if of(method, budget)[0] is not None]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    check(sys.argv[1], runs, expected(runs), ENDINGS if len(runs) > 2 else [])
