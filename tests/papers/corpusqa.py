#!/usr/bin/env python3
"""CorpusQA's Tables 3 and 4 and the accuracy by difficulty from run folders, held against a report cell by cell.

    corpusqa.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper corpusqa --json`. A domain's number is the share of right answers; overall is the
mean of the domains, and beside it stands correct over total. Failures are wrong, and in the tables of the other reading
left out. Exit code 1 if a cell differs.
"""

import sys

from records import Run, check, mean, percent

DOMAINS = ["financial_en", "education_en"]
SETS = ["128K", "1M"]
DIFFICULTIES = ["easy", "hard"]
# A response without the words is the answer whole: none is unparsed.
ENDINGS = ["answered", "blocked", "failed", "overflow"]
FAILURES = {"cut_short", "blocked", "failed", "overflow"}


def accuracy(run, cell, left_out, **labels):
    method, budget = cell
    items = [i for i, item in run.items.items() if all(item["labels"].get(name) == value for name, value in labels.items())]
    items = [i for i in items if not (left_out and run.ending(method, i, budget) in FAILURES)]
    return percent([run.right(method, item, budget) for item in items])


def row(run, cell, left_out, length_set):
    domains = [accuracy(run, cell, left_out, length_set=length_set, domain=domain) for domain in DOMAINS]
    return [*domains, mean(domains), accuracy(run, cell, left_out, length_set=length_set)]


def expected(runs):
    tables = {}
    whole = ("full-document", None)
    for suffix, left_out in [("", True), ("-wrong", False)]:
        rag = lambda run: [cell for cell in sorted(run.cells(), key=str) if cell[0] == "corpus-rag"]
        tables[f"corpusqa-table-3{suffix}"] = [row(run, whole, left_out, s) for s in SETS for run in runs]
        tables[f"corpusqa-table-4{suffix}"] = [row(run, cell, left_out, s) for s in SETS for run in runs for cell in rag(run)]
        tables[f"corpusqa-difficulty{suffix}"] = [
            [accuracy(run, cell, left_out, difficulty=d) for d in DIFFICULTIES] for run in runs for cell in [whole, *rag(run)]]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    check(sys.argv[1], runs, expected(runs), ENDINGS)
