"""What trials count for, over runs that we made up: `observations.json`.

No reference implementation exists: the rule that `FailurePolicy::counted` documents is restated here in exact fractions,
apart from closeread's code.
"""

import random
from fractions import Fraction
from math import sqrt
from statistics import stdev

FAILURES = {"overflow", "cut_short", "blocked", "failed", "missing"}
NEVER = {"no_gold", "not_asked"}
ENDINGS = ["answered", "not_found", "unanswered", "unparsed", "overflow", "cut_short", "blocked", "failed", "missing",
           "no_gold", "not_asked"]
OUT = ["failure", "unjudged", "unscored", "not_applicable"]
DEFAULT = {"not_found": "zero", "unparsed": "zero", "unjudged": "out", "empty": "zero"}


def files():
    """The one file, by name."""
    inputs = runs()
    asked = [case(inputs, f"own-{n:02}", *made) for n, made in enumerate(cases(), 1)]
    return {"observations.json": {"schema": "observations/1", "tolerance": 1e-9, "inputs": inputs, "cases": asked}}


def run(cells, items, rows, repeats=1, benchmark="mill", **more):
    metrics = {"score": {"kind": "value"}, "facts": {"kind": "ratio", "of": "item"},
               "sentences": {"kind": "ratio", "of": "answer"}}
    return {"benchmark": benchmark, "cells": cells, "items": items, "repeats": repeats, "metrics": metrics,
            "rows": rows} | more


def cell(name, method="full", task="generative", budget=None):
    return {"id": name, "configuration": "", "method": method, "model": "p/m", "budget": budget, "task": task}


def item(name, documents=(), labels=None, facts=None, gold=None):
    of = {} if facts is None else {"of": {"facts": facts}}
    return {"id": name, "gold": gold or f"gold {name}", "documents": list(documents), "labels": labels or {}} | of


def row(name, ending, score=None, facts=None, sentences=None, cell="c", repeat=0):
    ratio = lambda pair: pair if pair == "unjudged" else {"hit": pair[0], "of": pair[1]}
    scores = {} if score is None else {"score": score if score == "unjudged" else {"value": score}}
    scores |= {key: ratio(pair) for key, pair in (("facts", facts), ("sentences", sentences)) if pair is not None}
    return {"cell": cell, "item": name, "repeat": repeat, "ending": ending, "scores": scores}


def runs():
    small = run(
        [cell("c")],
        [item("a", ["x"], {"kind": "s"}, 4), item("b", ["y", "x"], {"kind": "s"}, 6), item("d", ["x", "y"], {"kind": "t"}),
         item("e", [], {}, 3), item("f", ["x"], {"kind": "u"}, 5), item("g", [], {"kind": "t"}, 2)],
        [row("a", "answered", 0.75, (3, 4), (2, 3)), row("b", "not_found", 0.5, (0, 6)), row("d", "unanswered"),
         row("e", "answered", "unjudged", (1, 3), (0, 0)), row("f", "blocked")],
        not_applicable={"sentences": ["f"]})
    other = run([cell("c"), cell("r", "rag", budget=500)], [item("a", ["x"]), item("b", ["y"], gold="new"), item("h", ["z"])],
                [row("a", "answered", 0.25), row("b", "answered", 1), row("h", "no_gold"), row("a", "failed", cell="r")])
    choice = run([cell("c", task="choice")], [item("b", ["y"], gold="letter B")], [row("b", "answered", 1)])
    return {"small": small, "drawn": drawn(), "other": other, "choice": choice, "none": run([cell("c")], [], [], 2),
            "elsewhere": run([cell("z", "none")], [], [], benchmark="river")}


def drawn():
    draw = random.Random(1852)
    items, rows = [], []
    for n in range(9):
        kind = {} if n == 4 else {"kind": draw.choice("st")}
        items.append(item(f"q{n}", [draw.choice("xyz")], kind, draw.randint(2, 9)))
        for name in "cr":
            for repeat in range(2):
                ending = draw.choice(ENDINGS + ["answered"] * 12)
                facts, sentences = items[-1]["of"]["facts"], draw.randint(0, 4)
                scores = [draw.choice([0, 0.25, 0.5, 1, "unjudged"]), (draw.randint(0, facts), facts),
                          (draw.randint(0, sentences), sentences)] if ending in ("answered", "not_found") else []
                if ending != "missing":
                    rows.append(row(f"q{n}", ending, *scores, cell=name, repeat=repeat))
    return run([cell("c"), cell("r", "rag", budget=500)], items, rows, 2)


def cases():
    for policy in ("wrong", "left_out"):
        for metric in ("score", "facts", "sentences"):
            for weighting in ("item", "pooled", {"mean_over": "kind"}):
                use, of = ("drawn", "r") if metric == "sentences" else ("small", "c")
                yield {"use": use}, {"metric": metric, "cells": [of], "policy": policy, "weighting": weighting}
        for counting in ({"not_found": "as_text"}, {"unparsed": "out"}, {"unjudged": "zero"}, {"empty": "out"}):
            ask = {"metric": "score", "cells": ["c"], "policy": policy, "weighting": "item", "counting": counting}
            yield {"use": "drawn"}, ask | {"cells": ["c", "r"]}
        plain = {"metric": "score", "policy": policy, "weighting": "item"}
        yield {"use": "none"}, plain | {"cells": ["c"]}
        yield {"use": "small"}, plain | {"cells": ["c"], "clusters": True}
        yield {"use": "drawn"}, plain | {"cells": ["c"], "group_by": "kind"}
        yield {"a": "small", "b": "other"}, plain | {"a": "c", "b": "c"}
        yield {"a": "drawn", "b": "drawn"}, plain | {"a": "c", "b": "r"}
        for names in ([("", "drawn"), ("x", "drawn")], [("", "other"), ("", "choice")], [("", "small"), ("x", "other")],
                      [("x", "other"), ("x", "other")], [("", "small"), ("", "elsewhere")]):
            yield {"runs": [{"name": name, "use": used} for name, used in names]}, plain


def case(inputs, name, where, ask):
    made = {"id": name, "input": where | {"ask": ask}}
    if "runs" in where:
        return made | {"expected": pool([(named["name"], inputs[named["use"]]) for named in where["runs"]], ask)}
    if "a" in where:
        return made | {"expected": paired(inputs[where["a"]], inputs[where["b"]], ask)}
    of = inputs[where["use"]]
    if "group_by" not in ask:
        return made | {"expected": aggregate(of, ask["cells"], of["items"], ask)}
    values = [item["labels"].get(ask["group_by"]) for item in of["items"]]
    group = lambda value: [item for item, own in zip(of["items"], values) if own == value]
    groups = {value: aggregate(of, ask["cells"], group(value), ask) for value in sorted(set(values) - {None})}
    return made | {"expected": {"groups": groups, "in_none": values.count(None)}}


def counted(run, item, row, ask):
    """(value, hits, denominator), or why there is none; a zero has the value None."""
    counting, metric, ending = DEFAULT | ask.get("counting", {}), ask["metric"], row["ending"]
    if ending in NEVER:
        return "unscored"
    if item["id"] in run.get("not_applicable", {}).get(metric, []):
        return "not_applicable"
    is_ratio = run["metrics"][metric]["kind"] == "ratio"
    zero = (None, 0, (item.get("of", {}).get(metric) if is_ratio else 1))
    if ending in FAILURES:
        return zero if ask["policy"] == "wrong" else "failure"
    if ending == "unparsed" and counting["unparsed"] == "out" or ending == "unanswered" and counting["empty"] == "out":
        return "unscored"
    if ending in ("unanswered", "unparsed") or ending == "not_found" and counting["not_found"] == "zero":
        return zero
    score = row["scores"].get(metric)
    if score == "unjudged":
        return zero if counting["unjudged"] == "zero" else "unjudged"
    if score is None or score.get("of") == 0:
        return "not_applicable"
    if "value" in score:
        return Fraction(score["value"]), Fraction(score["value"]), 1
    return Fraction(score["hit"], score["of"]), score["hit"], score["of"]


def trials(run, cells, items):
    found = {(row["cell"], row["item"], row["repeat"]): row for row in run["rows"]}
    for name in cells:
        for item in items:
            for repeat in range(run["repeats"]):
                missing = {"ending": "missing", "scores": {}}
                yield (name, item["id"]), item, repeat, found.get((name, item["id"], repeat), missing)


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values) if values else None


def aggregate(run, cells, items, ask):
    out, ledger = dict.fromkeys(OUT, 0), dict.fromkeys(ENDINGS, 0)
    seen = []
    for unit, item, repeat, row in trials(run, cells, items):
        ledger[row["ending"]] += 1
        got = counted(run, item, row, ask)
        if isinstance(got, str):
            out[got] += 1
        else:
            seen.append((unit, item, repeat, *got))
    scores = means(seen)
    labels = {unit: item["labels"] for unit, item, *_ in seen}
    made = {"planned": sum(ledger.values()), "counted": len(seen), "zeros": sum(value is None for *_, value, _, _ in seen),
            "out": out, "ledger": ledger, "complete": ledger["missing"] == 0}
    weighting = ask["weighting"]
    if weighting == "item":
        value, n = mean(scores.values()), len(scores)
    elif weighting == "pooled":
        of = sum(of or 0 for *_, of in seen)
        made |= {"of": of, "zeros_without_of": sum(of is None for *_, of in seen)}
        value = sum(Fraction(hits) for *_, hits, _ in seen) / of if of else None
        n = len({unit for unit, *_, of in seen if of})
    else:
        label = weighting["mean_over"]
        values = sorted({labels[unit][label] for unit in scores if label in labels[unit]})
        groups = {value: [scores[unit] for unit in scores if labels[unit].get(label) == value] for value in values}
        made["groups"] = {value: {"mean": float(mean(group)), "n": len(group)} for value, group in groups.items()}
        value, n = mean(mean(group) for group in groups.values()), sum(map(len, groups.values()))
        made["unlabelled"] = len(scores) - n
    made |= {"mean": None if value is None else float(value), "n": n}
    if run["repeats"] > 1:
        each = [mean(means([one for one in seen if one[2] == repeat]).values()) for repeat in range(run["repeats"])]
        each = [value for value in each if value is not None]
        made["over_repeats"] = {"mean": float(mean(each)) if each else None,
                                "sd": float(stdev(each)) if len(each) > 1 else None, "n": len(each)}
    if ask.get("clusters"):
        made["clusters"] = clusters({unit[1]: (item["documents"], scores[unit]) for unit, item, *_ in seen})
    return made


def means(seen):
    values = {}
    for unit, _, _, value, _, _ in seen:
        values.setdefault(unit, []).append(value or Fraction(0))
    return {unit: mean(of) for unit, of in values.items()}


def clusters(scores):
    average, members = mean(value for _, value in scores.values()), {}
    for name, (documents, value) in scores.items():
        members.setdefault(frozenset(documents) or name, []).append((name, value - average))
    g, squares = len(members), sum(sum(value for _, value in of) ** 2 for of in members.values())
    error = sqrt(squares) / len(scores)
    return {"n": g, "members": [[name for name, _ in of] for of in members.values()],
            "clustered_se": error if g > 1 else None, "small_sample": error * sqrt(g / (g - 1)) if g > 1 else None}


def key(of, name):
    return {"configuration": name} | {field: of[field] for field in ("method", "model", "budget", "task")}


def pool(runs, ask):
    if len({run["benchmark"] for _, run in runs}) > 1:
        return {"refused": "two_benchmarks"}
    golds = {}
    for _, run in runs:
        for of in run["cells"]:
            for item in run["items"]:
                if golds.setdefault((of["task"], item["id"]), item["gold"]) != item["gold"]:
                    return {"refused": "two_golds", "id": item["id"], "task": of["task"]}
    cells = [(key(of, name), run, of["id"]) for name, run in runs for of in run["cells"]]
    for n, (of, _, _) in enumerate(cells):
        if of in [before for before, _, _ in cells[:n]]:
            return {"refused": "equal_cells"} | of
    lines = [of | aggregate(run, [name], run["items"], ask) for of, run, name in cells]
    items = {(item["id"], item["gold"]) for _, run in runs for item in run["items"]}
    return {"cells": lines, "items": len(items), "planned": sum(line["planned"] for line in lines)}


def paired(a, b, ask):
    sides = []
    for run, name in ((a, ask["a"]), (b, ask["b"])):
        seen = [(unit[1], item, repeat, counted(run, item, row, ask)) for unit, item, repeat, row in
                trials(run, [name], run["items"])]
        scores = means([(unit, item, repeat, *got) for unit, item, repeat, got in seen if not isinstance(got, str)])
        sides.append(({item["id"]: item["gold"] for item in run["items"]}, scores))
    (golds_a, of_a), (golds_b, of_b) = sides
    ids = set(golds_a) | set(golds_b)
    other = {name for name in ids if name in golds_a and name in golds_b and golds_a[name] != golds_b[name]}
    common = [name for name in sorted(ids - other) if name in of_a and name in of_b]
    only_a = [name for name in ids - other if name in of_a and name not in of_b]
    only_b = [name for name in ids - other if name in of_b and name not in of_a]
    parts = {"n": len(common), "only_a": len(only_a), "only_b": len(only_b), "other_gold": len(other)}
    a, b = mean(of_a[name] for name in common), mean(of_b[name] for name in common)
    values = {"a": float(a), "b": float(b), "difference": float(a - b)} if common else {
        "a": None, "b": None, "difference": None}
    return parts | {"neither": len(ids) - sum(parts.values())} | values
