#!/usr/bin/env python3
"""NovelQA's Tables 1 to 7, 9, 12 to 17 and Figures 3, 4, 6 and 7 from run folders, held against a report cell by cell.

    novelqa.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper novelqa --json`. The novels are made of sentences of 12 tokens each, so that a place
in tokens is 12 times the number of its sentence, which the sentence names. A question counts once for each piece of its
evidence. Failures are wrong, and in the tables of the other reading left out. Runs that
cite evidence have Table 5 alone; with two judges also Table 15, with one what the people of labels.csv beside REPORT.json say
(Tables 7 and 17). Exit code 1 if a cell differs.
"""

import csv
import re
import sys
from pathlib import Path
from statistics import quantiles

from p_values import of_coefficient, of_kendall
from records import Run, check, mean, pearson, percent, tokens

TOKENS = 12
ASPECTS = {"chara": "character", "mean": "meaning", "plot": "plot", "relat": "relation", "settg": "setting",
           "span": "span", "times": "times"}
# As Table 9 lists them.
COMPLEXITIES = ["multi-hop", "single-hop", "detail"]
LISTED = ["times", "meaning", "span", "setting", "relation", "character", "plot"]
EDGES = [20_000, 40_000, 60_000, 80_000, 100_000, 130_000, 170_000, 210_000]
SETTINGS = ["choice", "generative"]
ENDINGS = ["answered", "unparsed", "blocked", "failed", "cut_short"]
FAILURES = {"cut_short", "blocked", "failed", "overflow"}


class Novels:
    """The questions of a benchmark with where their evidence stands."""

    def __init__(self, folder, items):
        self.tokens = tokens(folder, TOKENS)
        self.items = items

    def book(self, item):
        return self.tokens[self.items[item]["documents"][0]]

    def places(self, item):
        numbers = [re.match(r"In room (\d+) of wing (\d+) ", piece["quote"]).groups() for piece in self.items[item]["evidence"]]
        return [TOKENS * (int(room) + 1000 * int(wing)) for room, wing in numbers]


def absolute(token, _):
    return sum(token >= edge for edge in EDGES)


def relative(token, book):
    return min(9, 10 * token // book)


def ranks(values):
    """From 1; ties share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def kendall(a, b):
    """Tau b: pairs in order minus pairs out of order, over what ties leave of all pairs."""
    sign = lambda x: (x > 0) - (x < 0)
    pairs = [(sign(a[i] - a[j]), sign(b[i] - b[j])) for i in range(len(a)) for j in range(i)]
    untied = lambda at: sum(pair[at] != 0 for pair in pairs)
    return sum(x * y for x, y in pairs) / (untied(0) * untied(1)) ** 0.5


def by_distance(points):
    """A row of Table 16, and how many questions it is over."""
    a, b = [place for place, _ in points], [right for _, right in points]
    if len(points) < 3 or len(set(a)) == 1 or len(set(b)) == 1:
        return [None] * 7
    r, rho = pearson(a, b), pearson(ranks(a), ranks(b))
    n = len(points)
    return [r, of_coefficient(r, n), rho, of_coefficient(rho, n), kendall(a, b), of_kendall(a, b), n]


def kappa(pairs):
    """Cohen's kappa of two who say yes or no."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    yes = [sum(pair[at] for pair in pairs) / n for at in (0, 1)]
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if chance == 1 else 100 * (agreed - chance) / (1 - chance)


def cited(runs, folders, labels):
    """Of runs that cite evidence: its marks, and what judges and people say of the answers."""
    tables = {}
    whole = "full-document"
    verdicts = [run.judgements(folder, "judge-novelqa") for run, folder in zip(runs, folders)]
    judges = sorted({model for said in verdicts for model, _ in said})
    for suffix, left_out in [("", False), ("-left-out", True)]:
        rows, shares = [], []
        for run, folder, said in zip(runs, folders, verdicts):
            marks = run.judgements(folder, "judge-novelqa-evidence")
            asked = [item for item in run.items if not (left_out and run.ending(whole, item) in FAILURES)]
            of = lambda item, name: marks.get((judges[0], item), {}).get(name, 0)
            row = [mean([of(item, name) for item in asked]) for name in ("correctness", "relevance", "sufficiency")]
            rows.append([*row, mean(row), len(asked)])
            right = lambda judge, item: said.get((judge, item), {}).get("correct", False)
            shares.append([percent([right(judge, item) for item in asked]) for judge in judges])
        if len(judges) == 1:
            tables[f"novelqa-table-5{suffix}"] = rows
        else:
            tables[f"novelqa-table-15{suffix}"] = shares
    if len(judges) == 1:
        tables |= of_people(runs, verdicts, judges[0], labels)
    return tables


def of_people(runs, verdicts, judge, labels):
    rows = []
    for run, said in zip(runs, verdicts):
        of = lambda rater: [(said[judge, row["item"]]["correct"], row["label"] == "C") for row in labels
                            if row["run"] == run.name and row["rater"] == rater and row["label"] in ("C", "N")]
        kappas = [kappa(of(rater)) for rater in ("ann", "ben")]
        rows.append([*kappas, mean(kappas)])
    faults = ["hallucination on fictional setting", "hallucination on narration", "overlooking", "miscounting"]
    found = [(row["label"], runs[0].items[row["item"]]["labels"]["aspect"]) for row in labels if row["label"] in faults]
    n = lambda fault, name: sum(fault in (None, of) and name in (None, aspect) for of, aspect in found)
    counts = [[n(fault, name) for name in [*ASPECTS.values(), None]] for fault in [*faults, None]]
    return {
        "novelqa-table-7": rows + [[mean(column) for column in zip(*rows)]],
        "novelqa-table-17": counts,
        "novelqa-table-17-shares": [[100 * value / len(found) for value in row] for row in counts],
    }


def with_questions(novels, items):
    """Figure 3: tokens of the novels with their questions and options, by who may print them."""
    groups = {}
    for name, length in novels.tokens.items():
        own = [item for item in items if novels.items[item]["documents"] == [name]]
        asked = [text for item in own for text in [novels.items[item]["question"], *novels.items[item]["options"]]]
        groups.setdefault(novels.items[own[0]]["labels"]["rights"], []).append(length + sum(map(pieces_of, asked)))
    quarters = lambda values: quantiles(values, n=4, method="inclusive")
    return [[len(own), min(own), *quarters(own), max(own), mean(own)] for _, own in sorted(groups.items())]


def pieces_of(text):
    """Tokens of the questions and options here by cl100k: a word with the blank before it, a run of digits, a mark."""
    return len(re.findall(r" ?[A-Za-z]+|\d+|[^\w\s]", text))


def expected(runs, novels):
    # A question that is asked in both settings is in the run twice, and is one.
    items = [item for item in novels.items if "#" not in item]
    of = lambda task: [item for item in novels.items if novels.items[item]["task"] == task]
    has = lambda item, **labels: all(novels.items[item]["labels"][name] == value for name, value in labels.items())
    pieces = [(place, novels.book(item)) for item in items for place in novels.places(item)]
    found = lambda bin_of, bins: [sum(bin_of(*piece) == n for piece in pieces) for n in range(bins)]
    counts_and_shares = lambda counts: [counts, [100 * count / len(pieces) for count in counts]]
    tables = {
        "novelqa-table-1": [
            [sum(has(item, complexity=c, **labels) for item in items) for c in COMPLEXITIES] + [sum(has(item, **labels) for item in items)]
            for labels in [{"aspect": name} for name in LISTED] + [{}]],
        "novelqa-table-9": [[percent([has(item, complexity=name) for item in items])] for name in COMPLEXITIES]
        + [[percent([has(item, aspect=name) for item in items])] for name in LISTED],
        "novelqa-table-12": counts_and_shares(found(absolute, 9)),
        "novelqa-table-13": counts_and_shares(found(relative, 10)),
        "data-with-questions": with_questions(novels, items),
    }
    for suffix, left_out in [("", False), ("-left-out", True)]:
        kept = lambda run, method, item: not (left_out and run.ending(method, item) in FAILURES)

        def accuracy(run, task, method="full-document", **labels):
            own = [item for item in of(task) if has(item, **labels) and kept(run, method, item)]
            return percent([run.right(method, item) for item in own])

        def by_piece(run, task, keep):
            """Scores of pieces with their place and the length of their book."""
            own = [item for item in of(task) if kept(run, "full-document", item) and keep(novels.book(item))]
            return [(place, novels.book(item), run.right("full-document", item)) for item in own for place in novels.places(item)]

        def binned(task, bin_of, bins, keep=lambda _: True):
            rows = []
            for run in runs:
                found = by_piece(run, task, keep)
                rows.append([percent([right for place, book, right in found if bin_of(place, book) == n]) for n in range(bins)])
            return rows

        def without_book(run, task):
            own = [item for item in of(task) if kept(run, "closed-book", item) and kept(run, "full-document", item)]
            closed, standard = ([run.right(method, item) for item in own] for method in ("closed-book", "full-document"))
            return [None, None] if not own else [percent(closed), percent(closed) - percent(standard)]

        def panel(run, task, complexity):
            labels = {"complexity": complexity} if complexity else {}
            return [accuracy(run, task, aspect=name, **labels) for name in ASPECTS.values()] + [accuracy(run, task, **labels)]

        tables[f"novelqa-table-2{suffix}"] = [[accuracy(run, task) for task in SETTINGS] for run in runs]
        tables[f"novelqa-table-2-public-domain{suffix}"] = [
            [accuracy(run, task, rights="public-domain") for task in SETTINGS] for run in runs]
        for name, task in [("3", "generative"), ("14", "choice")]:
            rows = [panel(run, task, complexity) for run in runs for complexity in [*COMPLEXITIES, None]]
            tables[f"novelqa-table-{name}{suffix}"] = rows
        for name, task in [("4", "generative"), ("6", "choice")]:
            tables[f"novelqa-figure-{name}{suffix}"] = binned(task, absolute, 9)
            tables[f"novelqa-figure-{name}-relative{suffix}"] = binned(task, relative, 10)
        tables[f"novelqa-figure-7-65k-100k{suffix}"] = binned("choice", relative, 10, lambda book: 65_000 <= book <= 100_000)
        tables[f"novelqa-figure-7-above-100k{suffix}"] = binned("choice", relative, 10, lambda book: book > 100_000)
        distances = lambda run: [
            (max(novels.places(item)) - min(novels.places(item)), run.right("full-document", item)) for item in of("generative")
            if has(item, complexity="multi-hop") and len(novels.places(item)) > 1 and kept(run, "full-document", item)]
        tables[f"novelqa-table-16{suffix}"] = [by_distance(distances(run)) for run in runs]
        parts, rows, ns = [[], [], [], []], [], []
        for run in runs:
            row, n_row = [], []
            for n, (task, is_before) in enumerate((task, before) for task in SETTINGS for before in (True, False)):
                scores = [right for place, _, right in by_piece(run, task, lambda _: True) if (place < 100_000) == is_before]
                parts[n] += scores
                row.append(percent(scores))
                n_row.append(len(scores) or None)
            rows.append(row)
            ns.append(n_row)
        tables[f"novelqa-table-4{suffix}"] = rows + [[percent(part) for part in parts]]
        tables[f"novelqa-table-4{suffix}-n"] = ns + [[len(part) or None for part in parts]]
        tables[f"novelqa-table-6{suffix}"] = [[cell for task in SETTINGS for cell in without_book(run, task)] for run in runs]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folders = sys.argv[2:]
    runs = [Run(folder) for folder in folders]
    beside = Path(sys.argv[1]).parent
    if runs[0].methods["full-document"]["evidence"]:
        labels = list(csv.DictReader((beside / "labels.csv").open(encoding="utf-8")))
        check(sys.argv[1], runs, cited(runs, folders, labels), [])
    check(sys.argv[1], runs, expected(runs, Novels(beside, runs[0].items)), ENDINGS)
