#!/usr/bin/env python3
"""SagaScale's tables and figures from run folders, by the paper's definitions, held against a report cell by cell.

    sagascale.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper sagascale --json`. An answer is right if it is the item's gold answer. Nothing
here knows closeread's code: it reads manifest.json, items.jsonl, records.jsonl, and the books beside REPORT.json, whose sentences
have 12 tokens each. Exit code 1 if a cell differs.
"""

import sys
from pathlib import Path

from records import Run, check, mean, percent, tokens

METHODS = {"NR": "naive-rag", "AR": "agentic-rag", "LC": "full-document", "CB": "closed-book"}
SETTINGS = ["NR", "AR", "LC"]
# Where Table 2 parts the books and Figure 3a is read; above the last no book lies here.
EDGES = [128_000, 256_000, 512_000, 1_000_000]
TOKENS = 12


class Configuration(Run):
    """A run, by the settings of the paper."""

    def end(self, setting, item):
        return self.ending(METHODS[setting], item)

    def score(self, setting, item):
        return self.right(METHODS[setting], item)

    def in_window(self):
        return [item for item in self.items if self.end("LC", item) != "overflow"]

    def accuracy(self, setting, items):
        return percent([self.score(setting, item) for item in items])

    def error(self, setting):
        """Footnote 6: incorrect of attempted; no attempt is NONE in NR, a ninth query in AR."""
        none = {"NR": "not_found", "AR": "unanswered"}[setting]
        return percent([1 - self.score(setting, item) for item in self.items if self.end(setting, item) != none])


def alike(runs, setting):
    """Table 8: items answered alike by all configurations, those that the window holds for LC; an item needs two."""
    polarized = []
    for item in runs[0].items:
        scores = [run.score(setting, item) for run in runs if setting != "LC" or item in run.in_window()]
        if len(scores) > 1:
            polarized.append(float(len(set(scores)) == 1))
    return percent(polarized)


def solved(runs):
    """Section 4.2: of the items that NR solves nowhere, those that AR solves somewhere."""
    never = [item for item in runs[0].items if not any(run.score("NR", item) for run in runs)]
    return percent([float(any(run.score("AR", item) for run in runs)) for item in never])


def ranks(values):
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    covariance = sum((x - ma) * (y - mb) for x, y in zip(a, b))
    return covariance / (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** 0.5


def cumulative(runs, setting, books):
    """Figure 3: accuracy over some books, mean over configurations; of LC those whose window holds every book."""
    if setting == "LC":
        runs = [run for run in runs if len(run.in_window()) == len(run.items)]
    return mean([run.accuracy(setting, [i for i, item in run.items.items() if item["documents"][0] in books]) for run in runs])


def searches(run, n):
    """Figure 4: accuracy over the trials with exactly so many searches; points of fewer than ten are left out."""
    at = [item for item in run.items if run.trial("agentic-rag", item).get("measures", {}).get("searches") == n
          and run.end("AR", item) != "unanswered"]
    return run.accuracy("AR", at) if len(at) >= 10 else None


def quantile(values, p):
    """Between the two values that stand at that share of the way, linearly."""
    at = p * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def expected(runs, length_of):
    runs = sorted(runs, key=lambda run: run.window)
    items = list(runs[0].items)
    types = {}
    for item in runs[0].items.values():
        types[item["labels"]["question_type"]] = types.get(item["labels"]["question_type"], 0) + 1
    books = sorted({item["documents"][0] for item in runs[0].items.values()}, key=lambda name: int(name.split("-")[1]))
    upto = [set(books[: n + 1]) for n in range(len(books))]
    held = [run for run in runs if len(run.in_window()) == len(items)]
    table3 = [[run.accuracy(s, items) for s in SETTINGS] for run in runs]
    table5 = [[run.accuracy(s, run.in_window()) for s in SETTINGS] for run in runs]
    average = lambda rows: [[mean(column) for column in zip(*rows)]]
    parsing = lambda run: percent([float(run.end("LC", i) in ("unparsed", "cut_short")) for i in run.in_window()])
    over = lambda other: mean([run.accuracy("LC", run.in_window()) - run.accuracy(other, run.in_window())
                               for run in runs if run.in_window()])
    rho = lambda s: -spearman([run.error("NR") for run in runs], [run.accuracy(s, items) for run in runs])
    lengths_in = lambda low, high: [name for name in books if low <= length_of[name] < high]
    ranges = [lengths_in(low, high) for low, high in zip([0, *EDGES], EDGES)]
    read_at = [{name for name in books if length_of[name] <= edge} for edge in EDGES]
    curve = lambda setting: [cumulative(runs, setting, some) for some in read_at]
    decline = lambda curve: [*curve, None if curve[0] is None else curve[0] - curve[-1]]
    asked = lambda name: sum(name in item["documents"] for item in runs[0].items.values())
    lengths = sorted(length_of[name] for name in books)
    return {
        "data-lengths": [[*[sum(map(asked, some)) for some in ranges], len(items)], [*map(len, ranges), len(books)]],
        "lengths": [[length_of[name], asked(name)] for name in books],
        "data-languages": [[len(books), *[quantile(lengths, p) for p in (0, 0.25, 0.5, 0.75, 1)], mean(lengths)]],
        "sagascale-figure-2": [[100 * n / len(items)] for _, n in sorted(types.items(), key=lambda t: (-t[1], t[0]))],
        "sagascale-table-3": table3 + average(table3),
        "sagascale-table-4": [[run.accuracy("CB", items)] for run in runs],
        "sagascale-table-5": table5 + average(table5),
        "sagascale-table-6": [[parsing(run)] for run in runs],
        "sagascale-table-7": [[run.error("NR"), run.error("AR")] for run in runs],
        "sagascale-table-8": [[alike(runs, s)] for s in SETTINGS],
        "sagascale-figure-3a": [decline(curve(s)) for s in SETTINGS],
        "sagascale-figure-3a-curve": [[cumulative(runs, s, some) for s in SETTINGS] for some in upto],
        "sagascale-figure-3b": [[cumulative([run], "LC", some) for run in held] for some in upto],
        "sagascale-figure-4": [[searches(run, n) for n in range(1, 9)] for run in runs],
        "sagascale-advantage": [[over("NR")], [over("AR")]],
        "sagascale-solved": [[solved(runs)]],
        "sagascale-rank-correlation": [[rho("NR")], [rho("AR")]],
    }


ENDINGS = ["answered", "unparsed", "cut_short", "blocked", "failed", "overflow", "not_found", "unanswered"]

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Configuration(folder) for folder in sys.argv[2:]]
    length_of = tokens(Path(sys.argv[1]).parent, TOKENS)
    # Few configurations do not meet every ending.
    check(sys.argv[1], runs, expected(runs, length_of), ENDINGS if len(runs) == 16 else ["overflow"])
