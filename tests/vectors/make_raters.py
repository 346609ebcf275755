"""Labels that nobody gave, and how far their raters agree, by the formulas of Cohen (1960) and Gwet (2008).

    python make_raters.py > raters.json
"""

import itertools
import json
import random
from collections import Counter
from fractions import Fraction

RATERS = ("ann", "bob", "cy")


def kappa(pairs):
    """Cohen's; None with one label."""
    n = len(pairs)
    made = {"value": None, "n": n}
    if n == 0:
        return made
    observed = Fraction(sum(a == b for a, b in pairs), n)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(Fraction(first[label] * second[label], n * n) for label in first)
    made["agreement"] = float(observed)
    if expected != 1:
        made["value"] = float((observed - expected) / (1 - expected))
    return made


def ac1(units):
    """Gwet's, over the labels of each unit."""
    labels = sorted({label for unit in units for label in unit})
    rated_twice = [Counter(unit) for unit in units if len(unit) > 1]
    agreed = [Fraction(sum(c * (c - 1) for c in unit.values()), unit.total() * (unit.total() - 1)) for unit in rated_twice]
    pa = sum(agreed) / len(agreed)
    shares = [sum(Fraction(unit.count(label), len(unit)) for unit in units) / len(units) for label in labels]
    pe = sum(share * (1 - share) for share in shares) / (len(labels) - 1)
    return {"value": float((pa - pe) / (1 - pe)), "units": len(agreed), "pa": float(pa), "pe": float(pe)}


def decided(labels):
    label, count = Counter(labels).most_common(1)[0]
    return label if 2 * count > len(RATERS) else None


def case(name, about, classes, missing, judge_missing, seed):
    rng = random.Random(seed)
    units, judge = {}, {}
    for n in range(24):
        truth = rng.choice(classes)
        says = lambda wrong: truth if rng.random() > wrong else rng.choice(classes)
        rated = {rater: says(0.25) for rater in RATERS if rng.random() > missing}
        if rated:
            units[f"u{n}"] = rated
        if rng.random() > judge_missing:
            judge[f"u{n}"] = says(0.2)
    rows = [f"{unit},{rater},{label}" for unit, rated in units.items() for rater, label in rated.items()]
    majority = {unit: decided(rated.values()) for unit, rated in units.items()}
    pairs = [(majority[unit], judge[unit]) for unit in units if majority[unit] and unit in judge]
    recalls = []
    for label in {gold for gold, _ in pairs}:
        own = [said for gold, said in pairs if gold == label]
        recalls.append(Fraction(own.count(label), len(own)))
    both = lambda a, b: [(rated[a], rated[b]) for rated in units.values() if a in rated and b in rated]
    against = lambda rater: [(rated[rater], judge[unit]) for unit, rated in units.items() if rater in rated and unit in judge]
    expected = {
        "raters": list(RATERS), "units": len(units), "labels": len(rows), "panel": len(RATERS),
        "rated_by": {str(n): count for n, count in Counter(map(len, units.values())).items()},
        "majority": majority, "without_majority": sum(label is None for label in majority.values()),
        "kappa": [{"a": a, "b": b} | kappa(both(a, b)) for a, b in itertools.combinations(RATERS, 2)],
        "ac1": ac1([list(rated.values()) for rated in units.values()]),
        "judge": {
            "kappa": {rater: kappa(against(rater)) for rater in RATERS},
            "against_majority": {
                "binary": float(Fraction(sum(a == b for a, b in pairs), len(pairs))), "n": len(pairs),
                "balanced": float(sum(recalls) / len(recalls)), "kappa": kappa(pairs),
            },
            "unjudged_units": sum(unit not in judge for unit in units),
        },
    }
    text = lambda head, rows: "\n".join([head, *rows]) + "\n"
    return {"id": name, "about": about, "input": {
        "labels": text("unit,rater,label", rows),
        "judge": text("unit,label", [f"{unit},{label}" for unit, label in judge.items()]),
    }, "expected": expected}


cases = [
    case("two-labels", "two labels, every unit rated by all", ["yes", "no"], 0.0, 0.0, 1),
    case("three-labels", "three labels, ratings and judgements missing", ["C", "U", "N"], 0.3, 0.2, 2),
    {"id": "second-label", "about": "a rater labels a unit twice", "input": {"labels": "unit,rater,label\nu,a,yes\nu,a,yes\n"},
     "expected": {"refused": "second_label", "unit": "u", "rater": "a", "line": 3, "first_line": 2}},
    {"id": "second-label-crlf", "about": "the same in a file whose lines end in CRLF, with a blank line and a line end in a cell",
     "input": {"labels": "unit,rater,label\r\n\r\n\"u\r\nv\",a,yes\r\nu,a,yes\r\nu,a,no\r\n"},
     "expected": {"refused": "second_label", "unit": "u", "rater": "a", "line": 6, "first_line": 5}},
    {"id": "criterion-undecided", "about": "a criterion by which no unit has a majority; more raters than the panel",
     "input": {"labels": "unit,criterion,rater,label\nu,true,a,yes\nu,true,b,yes\nu,clear,a,yes\nu,clear,b,no\n", "panel": 1},
     "expected": {
         "raters": ["a", "b"], "units": 2, "labels": 4, "panel": 1, "rated_by": {"2": 2}, "without_majority": 1,
         "majority": {"true/u": "yes", "clear/u": None}, "kappa": [{"a": "a", "b": "b"} | kappa([("yes", "yes"), ("yes", "no")])],
         "ac1": ac1([["yes", "yes"], ["yes", "no"]]),
         "criteria": {"true": {"value": 1.0, "hit": 1, "of": 1}, "clear": {"value": None, "hit": 0, "of": 0}},
         "all_criteria": {"value": None, "hit": 0, "of": 0}}},
]
file = {"schema": "raters/1", "tolerance": 1e-9, "cases": cases}
print(json.dumps(file))
