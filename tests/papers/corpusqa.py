#!/usr/bin/env python3
"""CorpusQA's Tables 2 to 5, its Figures 3 and 4 and the accuracy by difficulty from run folders, held against a report cell by cell.

    corpusqa.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper corpusqa --json`. A domain's number is the share of right answers; overall is the
mean of the domains, and beside it stands correct over total. Failures are wrong, and in the tables of the other reading
left out. The documents are made of sentences of 12 tokens each. Exit code 1 if a cell differs.
"""

import sys
from pathlib import Path

from records import Run, check, lines, mean, percent, tokens

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


def table_5(people, runs):
    """Of the questions that a person was given; who was late or gave up is wrong, and in no mean of minutes. Failures are wrong."""
    rows = []
    for name in SETS:
        asked = [item for item in people.items if people.items[item]["labels"]["length_set"] == name]
        trials = {item: trial for (_, _, item, _), trial in people.trials.items() if item in asked}
        done = [trial["seconds"] / 60 for trial in trials.values() if trial["outcome"] == "answered"]
        right = [float(trial.get("answer") in people.items[item]["answers"]) for item, trial in trials.items()]
        late = [float(trial["outcome"] != "answered") for trial in trials.values()]
        rows.append([percent(right), mean(done), percent(late)])
        for method in ("full-document", "memory-agent"):
            for run in runs:
                ends = [run.ending(method, item) for item in asked]
                if set(ends) == {"overflow"}:
                    rows.append([None] * 3)
                    continue
                done = [item for item in asked if run.ending(method, item) not in {"blocked", "failed", "overflow"}]
                minutes = mean([run.trial(method, item)["seconds"] / 60 for item in done])
                rows.append([percent([run.right(method, item) for item in asked]), minutes, 0.0])
    return rows


def figure_4(runs):
    """Overall on the shortest set: the reading of each model that reasons, and the one that does not."""
    overall = lambda run: mean([accuracy(run, ("full-document", None), True, length_set=SETS[0], domain=d) for d in DOMAINS])
    return [[overall(reasons), overall(plain)] for plain, reasons in zip(runs[::2], runs[1::2])]


def table_2(items, lengths):
    """The mean tokens of the documents of instances and their number: by domain, by set, by difficulty, and all."""
    row = lambda own: [mean([sum(lengths[name] for name in item["documents"]) for item in own]), ..., len(own)]
    labels = [(label, value) for label, values in (("domain", DOMAINS), ("length_set", SETS), ("difficulty", DIFFICULTIES)) for value in values]
    return [row([item for item in items if item["labels"][label] == value]) for label, value in labels] + [row(items)]


def figure_3(runs, folders):
    """The answers of a model that the judge calls right, of all that it was asked, by benchmark, failures left out; none for a
    benchmark that was not run."""
    rows = []
    for model in dict.fromkeys(model for run in runs for model in run.models):
        row = []
        for name in ("corpusqa", "longbench-v2", "frames"):
            shares = [judged(run, folder) for run, folder in zip(runs, folders) if (run.benchmark, run.models) == (name, [model])]
            row.append(shares[0] if shares else None)
        rows.append(row)
    return rows


def judged(run, folder):
    right = {(one["trial"]["method"], one["item"]): one["ruling"]["correct"] for one in lines(Path(folder) / "judgements.jsonl")
             if one["judge"] == "judge-corpusqa" and one["state"] == "ruled"}
    items = [item for item in run.items if run.ending("full-document", item) not in FAILURES]
    return percent([right.get(("full-document", item), False) for item in items])


def expected(runs, folders, lengths):
    if any(run.benchmark != "corpusqa" for run in runs):
        return {"corpusqa-figure-3": figure_3(runs, folders)}
    if any(method == "human" for method, _ in runs[0].cells()):
        return {"corpusqa-table-5": table_5(runs[0], runs[1:])}
    tables = {"corpusqa-figure-4": figure_4(runs), "data-instances": table_2(list(runs[0].items.values()), lengths)}
    whole = ("full-document", None)
    for suffix, left_out in [("", True), ("-wrong", False)]:
        rag = lambda run: [cell for name in ("memory-agent", "corpus-rag") for cell in run.cells() if cell[0] == name]
        tables[f"corpusqa-table-3{suffix}"] = [row(run, whole, left_out, s) for s in SETS for run in runs]
        tables[f"corpusqa-table-4{suffix}"] = [row(run, cell, left_out, s) for s in SETS for run in runs for cell in rag(run)]
        tables[f"corpusqa-difficulty{suffix}"] = [
            [accuracy(run, cell, left_out, difficulty=d) for d in DIFFICULTIES] for run in runs for cell in [whole, *rag(run)]]
    return tables


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    lengths = tokens(Path(sys.argv[1]).parent, 12)
    check(sys.argv[1], runs, expected(runs, sys.argv[2:], lengths), ENDINGS if len(runs) > 3 else [])
