#!/usr/bin/env python3
"""NovelQA's Tables 2, 3, 4, 6, 9, 12, 13 and 14 and Figures 4, 6 and 7 from run folders, held against a report cell by cell.

    novelqa.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper novelqa --json`. The novels are made of sentences of 12 tokens each, so that a place
in tokens is 12 times the number of its sentence, which the sentence names. A question counts once for each piece of its
evidence. Failures are wrong, and in the tables of the other reading left out. Exit code 1 if a cell differs.
"""

import re
import sys
from pathlib import Path

from records import Run, check, lines, percent

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
        documents = {document["id"]: document for document in lines(folder / "houses" / "documents.jsonl")}
        self.tokens = {name: TOKENS * document["text"].count(".") for name, document in documents.items()}
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


def expected(runs, novels):
    items = list(novels.items)
    of = lambda task: [item for item in items if novels.items[item]["task"] == task]
    has = lambda item, **labels: all(novels.items[item]["labels"][name] == value for name, value in labels.items())
    pieces = [(place, novels.book(item)) for item in items for place in novels.places(item)]
    share = lambda bin_of, bins: [100 * sum(bin_of(*piece) == n for piece in pieces) / len(pieces) for n in range(bins)]
    tables = {
        "novelqa-table-9": [[percent([has(item, complexity=name) for item in items])] for name in COMPLEXITIES]
        + [[percent([has(item, aspect=name) for item in items])] for name in LISTED],
        "novelqa-table-12": [share(absolute, 9)],
        "novelqa-table-13": [share(relative, 10)],
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
        parts, rows = [[], [], [], []], []
        for run in runs:
            row = []
            for n, (task, is_before) in enumerate((task, before) for task in SETTINGS for before in (True, False)):
                scores = [right for place, _, right in by_piece(run, task, lambda _: True) if (place < 100_000) == is_before]
                parts[n] += scores
                row.append(percent(scores))
            rows.append(row)
        tables[f"novelqa-table-4{suffix}"] = rows + [[percent(part) for part in parts]]
        tables[f"novelqa-table-6{suffix}"] = [[cell for task in SETTINGS for cell in without_book(run, task)] for run in runs]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    novels = Novels(Path(sys.argv[1]).parent, runs[0].items)
    check(sys.argv[1], runs, expected(runs, novels), ENDINGS)
