"""Trials that nobody made, and what SagaScale's Tables 3, 5, 6 and 7 say of them, by the paper's definitions.

    python make_sagascale_tables.py > sagascale_tables.json
"""

import json
import random
from fractions import Fraction

METHODS = {"NR": "naive-rag", "AR": "agentic-rag", "LC": "full-document"}
FAILED = ("overflow", "cut_short", "failed", "missing")


def made(answers=True):
    """Without answers every trial ends otherwise."""
    rng = random.Random(20261123)
    configurations = [
        {"name": "wide", "model": "w", "context_window": 400_000, "reasoning": True},
        {"name": "narrow", "model": "n", "context_window": 100_000, "reasoning": False},
        {"name": "middle", "model": "m", "context_window": 200_000, "reasoning": False},
    ]
    items = [
        {"id": f"q{n}", "document": f"book {n // 3}", "language": "en", "book_tokens": 60_000 + 45_000 * (n // 3),
         "task": "generative", "labels": {}}
        for n in range(18)
    ]
    planned, trials = [], []
    for configuration in configurations:
        for method in METHODS.values():
            planned.append({"configuration": configuration["name"], "method": method, "repeats": 1})
            for item in items:
                fits = item["book_tokens"] <= configuration["context_window"]
                endings = ["answered"] * 7 + ["not_found", "unanswered", "unparsed", "cut_short", "failed", "missing"]
                ending = rng.choice(endings)
                if not answers and ending == "answered":
                    ending = "failed"
                if method == "full-document" and not fits:
                    ending = "overflow"
                trial = {"configuration": configuration["name"], "method": method, "item": item["id"], "ending": ending}
                if ending == "answered":
                    trial["correct"] = rng.random() < 0.5
                trials.append(trial)
    return {"configurations": configurations, "items": items, "planned": planned, "trials": trials}


def percent(part, whole):
    return {"value": float(Fraction(100 * part, whole)), "n": whole} if whole else {"value": None, "n": 0, "reason": "none"}


def cases(name_of_input, given):
    own = lambda name, method: [t for t in given["trials"] if (t["configuration"], t["method"]) == (name, method)]
    right = lambda trials: sum(t.get("correct", False) for t in trials)
    ordered = sorted(given["configurations"], key=lambda c: c["context_window"])
    head = lambda c: {"configuration": c["name"], "model": c["model"], "max_len": c["context_window"], "reasoning": c["reasoning"]}

    def held(configuration):
        """A full-document trial that is missing says nothing: the length decides."""
        whole = {t["item"]: t["ending"] for t in own(configuration["name"], "full-document")}
        fits = lambda item: item["book_tokens"] <= configuration["context_window"]
        return {i["id"] for i in given["items"] if (fits(i) if whole[i["id"]] == "missing" else whole[i["id"]] != "overflow")}

    def table(name, columns, cell, **more):
        rows = [{"head": head(c), "cells": {column: cell(c, column) for column in columns}} for c in ordered]
        return {"id": f"own-{name_of_input}-{name}", "table": name, "input": {"name": name_of_input}, "expected": {"columns": columns, "rows": rows, **more}}

    def over_all(c, column):
        trials = own(c["name"], METHODS[column])
        return percent(right(trials), len(trials))

    def in_window(c, column):
        trials = [t for t in own(c["name"], METHODS[column]) if t["item"] in held(c)]
        return percent(right(trials), len(trials))

    def unread(c, _):
        trials = [t for t in own(c["name"], "full-document") if t["item"] in held(c)]
        return percent(sum(t["ending"] in ("unparsed", "cut_short") for t in trials), len(trials))

    def calibration(c, column):
        unable = {"NR": "not_found", "AR": "unanswered"}[column]
        trials = [t for t in own(c["name"], METHODS[column]) if t["ending"] != unable]
        return percent(len(trials) - right(trials), len(trials))

    mean = lambda cells: {"value": float(sum(Fraction(c["value"]) for c in cells) / len(cells)), "n": len(cells)}
    columns = list(METHODS)
    average = lambda cell: {column: mean([cell(c, column) for c in ordered]) for column in columns}
    return [
        table("Table 3", columns, over_all, average=average(over_all)),
        table("Table 5", columns, in_window, average=average(in_window)),
        table("Table 6", ["Err Rate"], unread),
        table("Table 7", ["NR", "AR"], calibration),
    ]


inputs = {"made": made(), "nothing answered": made(answers=False)}
file = {"schema": "paper-tables/1", "paper": "sagascale", "tolerance": 1e-9, "inputs": inputs,
        "cases": [case for name, given in inputs.items() for case in cases(name, given)]}
print(json.dumps(file))
