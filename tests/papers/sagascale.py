#!/usr/bin/env python3
"""SagaScale's tables and figures from run folders, by the paper's definitions, held against a report cell by cell.

    sagascale.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper sagascale --json`. An answer is right if it is the item's gold answer. Nothing
here knows closeread's code: it reads manifest.json, items.jsonl and records.jsonl. Exit code 1 if a cell differs.
"""

import json
import sys
from pathlib import Path

METHODS = {"NR": "naive-rag", "AR": "agentic-rag", "LC": "full-document", "CB": "closed-book"}
SETTINGS = ["NR", "AR", "LC"]


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Run:
    """A configuration: what came of each item under each method."""

    def __init__(self, folder):
        configuration = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.name = configuration["configuration_name"]
        configuration = configuration["configuration"]
        self.window = configuration["context_window"]
        self.items = {item["id"]: item for item in lines(folder / "items.jsonl")}
        self.trials = {(r["method"], r["item"]): r for r in lines(folder / "records.jsonl")}

    def ending(self, setting, item):
        return self.trials[METHODS[setting], item]["outcome"]

    def right(self, setting, item):
        trial = self.trials[METHODS[setting], item]
        return float(trial["outcome"] == "answered" and trial["answer"] in self.items[item]["answers"])

    def in_window(self):
        return [item for item in self.items if self.ending("LC", item) != "overflow"]

    def accuracy(self, setting, items):
        return percent([self.right(setting, item) for item in items])

    def error(self, setting):
        """Footnote 6: incorrect of attempted; no attempt is NONE in NR, a ninth query in AR."""
        none = {"NR": "not_found", "AR": "unanswered"}[setting]
        return percent([1 - self.right(setting, item) for item in self.items if self.ending(setting, item) != none])


def percent(values):
    return 100 * sum(values) / len(values) if values else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def alike(runs, setting):
    """Table 8: items answered alike by all configurations, those that the window holds for LC; an item needs two."""
    polarized = []
    for item in runs[0].items:
        scores = [run.right(setting, item) for run in runs if setting != "LC" or item in run.in_window()]
        if len(scores) > 1:
            polarized.append(float(len(set(scores)) == 1))
    return percent(polarized)


def solved(runs):
    """Section 4.2: of the items that NR solves nowhere, those that AR solves somewhere."""
    never = [item for item in runs[0].items if not any(run.right("NR", item) for run in runs)]
    return percent([float(any(run.right("AR", item) for run in runs)) for item in never])


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
    at = [item for item in run.items if run.trials["agentic-rag", item].get("measures", {}).get("searches") == n
          and run.ending("AR", item) != "unanswered"]
    return run.accuracy("AR", at) if len(at) >= 10 else None


def expected(runs):
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
    parsing = lambda run: percent([float(run.ending("LC", i) in ("unparsed", "cut_short")) for i in run.in_window()])
    over = lambda other: mean([run.accuracy("LC", run.in_window()) - run.accuracy(other, run.in_window())
                               for run in runs if run.in_window()])
    rho = lambda s: -spearman([run.error("NR") for run in runs], [run.accuracy(s, items) for run in runs])
    return {
        "sagascale-figure-2": [[100 * n / len(items)] for _, n in sorted(types.items(), key=lambda t: (-t[1], t[0]))],
        "sagascale-table-3": table3 + average(table3),
        "sagascale-table-4": [[run.accuracy("CB", items)] for run in runs],
        "sagascale-table-5": table5 + average(table5),
        "sagascale-table-6": [[parsing(run)] for run in runs],
        "sagascale-table-7": [[run.error("NR"), run.error("AR")] for run in runs],
        "sagascale-table-8": [[alike(runs, s)] for s in SETTINGS],
        "sagascale-figure-3a": [[cumulative(runs, s, set(books))] * 4 + [0.0] for s in SETTINGS],
        "sagascale-figure-3a-curve": [[cumulative(runs, s, some) for s in SETTINGS] for some in upto],
        "sagascale-figure-3b": [[cumulative([run], "LC", some) for run in held] for some in upto],
        "sagascale-figure-4": [[searches(run, n) for n in range(1, 9)] for run in runs],
        "sagascale-advantage": [[over("NR")], [over("AR")]],
        "sagascale-solved": [[solved(runs)]],
        "sagascale-rank-correlation": [[rho("NR")], [rho("AR")]],
    }


def main(report, *folders):
    report = json.loads(Path(report).read_text(encoding="utf-8"))
    tables = {table["id"]: table for table in report["tables"]}
    runs = [Run(Path(folder)) for folder in folders]
    endings = {trial["outcome"] for run in runs for trial in run.trials.values()}
    wanted = {"answered", "unparsed", "cut_short", "blocked", "failed", "overflow", "not_found", "unanswered"}
    wrong = [f"no trial ended as {ending}" for ending in sorted(wanted - endings)]
    n_cells = 0
    for name, rows in expected(runs).items():
        table = tables.get(name, {"rows": [], "columns": []})
        n_heads = len(table["columns"]) - len(rows[0])
        if len(table["rows"]) != len(rows):
            wrong.append(f"{name}: {len(table['rows'])} rows, expected {len(rows)}")
            continue
        for n, (row, values) in enumerate(zip(table["rows"], rows)):
            for column, cell, value in zip(table["columns"][n_heads:], row[n_heads:], values):
                n_cells += 1
                shown = cell.get("value")
                if (shown is None) != (value is None) or value is not None and abs(shown - value) > 1e-6:
                    wrong.append(f"{name}, row {n + 1}, {column}: {shown}, expected {value}")
    print(f"{n_cells} cells of {len(runs)} configurations, {n_cells - len(wrong)} of the cells agree")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
