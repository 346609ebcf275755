#!/usr/bin/env python3
"""The tables of Stronger Baselines from run folders, by the paper's definitions, held against a report cell by cell.

    stronger_baselines.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper stronger-baselines --json`. Tables 1 to 4: mean over the repeats of each repeat's
accuracy, with the sample deviation; a call that failed for good is in no denominator (the authors' code drops it), or wrong in
the tables of the other reading. Figures: the same over the mean tokens of the prompts. Exit code 1 if a cell differs.
"""

import sys

from records import Run, check, deviation, mean, percent

METHODS = ["vanilla-rag", "dos-rag", "full-document"]
ENDINGS = ["answered", "unparsed", "cut_short", "blocked", "failed", "overflow"]
# The reader never got to answer.
FAILURES = {"cut_short", "blocked", "failed", "overflow"}


def repeats(run):
    return sorted({repeat for *_, repeat in run.trials})


def score(run, method, budget, left_out):
    """Mean and deviation over repeats; one repeat's value is over the items that count in it."""
    def of(repeat):
        items = [i for i in run.items if not (left_out and run.ending(method, i, budget, repeat) in FAILURES)]
        return percent([run.right(method, item, budget, repeat) for item in items])

    values = [value for value in map(of, repeats(run)) if value is not None]
    return (mean(values), deviation(values))


def tokens(run, method, budget):
    trials = [trial for key, trial in run.trials.items() if key[:2] == (method, budget)]
    return mean([trial["prompt_tokens"] for trial in trials if trial["prompt_tokens"]])


def expected(runs):
    tables = {}
    for run in runs:
        cells = sorted(run.cells(), key=lambda cell: (METHODS.index(cell[0]), cell[1] or 0))
        budgets = sorted({budget for _, budget in cells if budget})
        for suffix, left_out in [("", True), ("-wrong", False)]:
            of = lambda method, budget: score(run, method, budget, left_out) if (method, budget) in cells else None
            tables[f"stronger-baselines-budgets{suffix}-{run.name}"] = [
                [of(method, budget) for budget in [*budgets, None]] for method in METHODS]
            tables[f"stronger-baselines-tokens{suffix}-{run.name}"] = [
                [tokens(run, method, budget), of(method, budget)] for method, budget in cells
                if of(method, budget)[0] is not None]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    check(sys.argv[1], runs, expected(runs), ENDINGS)
