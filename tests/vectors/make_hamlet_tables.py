"""Summaries that nobody wrote, and what HAMLET's tables say of them, by the paper's definitions.

    python make_hamlet_tables.py > hamlet_tables.json
"""

import json
import math
import random
from fractions import Fraction

LEVELS = ("root", "branch", "leaf")
PERSPECTIVES = ("analytical", "narrative")
SCOPES = ("root", "branch", "leaf", "none", "aligned", "all")
ERRORS = ("out_of_article", "entity", "relation", "sentence")
FAILED = ("overflow", "cut_short", "blocked", "failed", "missing")
ZERO = ("not_found", "unanswered", "unparsed")
MODELS = ("wide", "narrow")


def made():
    rng = random.Random(20261124)
    books = [{"id": "mill", "chunks": 6}, {"id": "river", "chunks": 3}]
    queries, summaries = [], []
    for book in books:
        for chunk in range(book["chunks"]):
            for perspective in PERSPECTIVES:
                facts = []
                for _ in range(rng.choice((1, 1, 2))):
                    facts.append({"id": f"f{len(facts)}", "level": "root", "parent": None})
                    for _ in range(rng.choice((0, 1, 2))):
                        facts.append({"id": f"f{len(facts)}", "level": "branch", "parent": "f0"})
                        facts += [{"id": f"f{len(facts) + n}", "level": "leaf", "parent": "f1"} for n in range(rng.choice((1, 2)))]
                name = f"{book['id']}-{chunk}-{perspective}"
                queries.append({"id": name, "book": book["id"], "chunk": chunk, "perspective": perspective, "facts": facts})
    for model in MODELS:
        for query in queries:
            ending = rng.choice(("answered",) * 9 + ZERO + FAILED)
            if ending == "missing":
                continue
            summary = {"model": model, "query": query["id"], "ending": ending, "words": 0, "sentences": [], "alignment": []}
            if ending == "answered":
                summary["words"] = rng.randrange(60, 240)
                sentences = [{"label": rng.choice(("none", "none", "none") + ERRORS)} for _ in range(rng.randrange(1, 6))]
                aligned = []
                for fact in query["facts"]:
                    covered = rng.random() < 0.5
                    # One number too many: no summary has that sentence.
                    numbers = rng.sample(range(1, len(sentences) + 2), 1) if covered else [1]
                    if rng.random() < 0.9:
                        aligned.append({"fact": fact["id"], "covered": covered, "sentences": numbers})
                summary["sentences"] = None if rng.random() < 0.1 else sentences
                summary["alignment"] = None if rng.random() < 0.1 else aligned
            summaries.append(summary)
    return {"models": [{"id": model, "queries": None} for model in MODELS], "books": books, "queries": queries,
            "summaries": summaries}


class Judged:
    """A planned summary."""

    def __init__(self, given, model, query):
        found = [s for s in given["summaries"] if (s["model"], s["query"]) == (model, query["id"])]
        self.query, self.summary = query, found[0] if found else None
        self.ending = self.summary["ending"] if found else "missing"
        chunks = next(book["chunks"] for book in given["books"] if book["id"] == query["book"])
        self.fifth = 5 * query["chunk"] // chunks

    def facts(self, level):
        return [fact for fact in self.query["facts"] if level in ("all", fact["level"])]

    def covered(self):
        return {entry["fact"]: entry["sentences"] for entry in self.summary["alignment"] if entry["covered"]}

    def recall(self, level, policy):
        """(hit, of) or None where it does not count."""
        facts = self.facts(level)
        if not facts or (self.ending in FAILED and policy == "left_out"):
            return None
        if self.ending != "answered":
            return (0, len(facts))
        if self.summary["alignment"] is None:
            return None
        return (sum(fact["id"] in self.covered() for fact in facts), len(facts))

    def faithful(self, scope):
        """(hit, of) of an answered, judged summary, or None."""
        if self.ending != "answered" or self.summary["sentences"] is None:
            return None
        if self.summary["alignment"] is None and scope != "all":
            return None
        counted = []
        for number, sentence in enumerate(self.summary["sentences"], 1):
            covered = self.covered() if self.summary["alignment"] is not None else {}
            levels = {fact["level"] for fact in self.query["facts"] if number in covered.get(fact["id"], [])}
            here = {"none": not levels, "aligned": bool(levels), "all": True}.get(scope, scope in levels)
            if here:
                counted.append(sentence["label"] == "none")
        return (sum(counted), len(counted))

    def summary_faithful(self, policy):
        if self.ending in FAILED:
            return None if policy == "left_out" else Fraction(0)
        if self.ending in ZERO:
            return Fraction(0)
        share = self.faithful("all")
        return None if share is None or share[1] == 0 else Fraction(*share)


def share(parts):
    parts = [part for part in parts if part is not None]
    hit, of = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return {"value": float(Fraction(hit, of)) if of else None, "hit": hit, "of": of}


def mean(values):
    values = [value for value in values if value is not None]
    return {"value": float(sum(values) / len(values)) if values else None, "n": len(values)}


def exact(cell):
    return Fraction(cell["hit"], cell["of"]) if cell["of"] else None


def cases(given):
    judged = {model: [Judged(given, model, query) for query in given["queries"]] for model in MODELS}
    of = lambda model, perspective: [one for one in judged[model] if one.query["perspective"] == perspective]
    levels = LEVELS + ("all",)

    def by_fifth(model, perspective, level, policy):
        return [share(one.recall(level, policy) for one in of(model, perspective) if one.fifth == fifth) for fifth in range(5)]

    def figure_3(policy):
        return {p: {level: {m: by_fifth(m, p, level, policy) for m in MODELS} for level in levels} for p in PERSPECTIVES}

    def table_4(policy):
        made = {}
        for level in levels:
            made[level] = {}
            for perspective in PERSPECTIVES:
                gaps = {}
                for model in MODELS:
                    there = [exact(cell) for cell in by_fifth(model, perspective, level, policy) if cell["of"]]
                    gaps[model] = (max(there) - min(there) if len(there) > 1 else None, len(there))
                made[level][perspective] = {
                    "models": {m: {"value": None if gap is None else float(gap), "fifths": n} for m, (gap, n) in gaps.items()},
                    "total": mean(gap for gap, _ in gaps.values()),
                }
        return made

    def table_5(_):
        made = {}
        for scope in SCOPES:
            made[scope] = {}
            for perspective in PERSPECTIVES:
                cells = {m: share(one.faithful(scope) for one in of(m, perspective)) for m in MODELS}
                made[scope][perspective] = {"models": cells, "total": mean(exact(cell) for cell in cells.values())}
        return made

    def table_7(policy):
        made = {}
        for model in MODELS:
            recalls = [one.recall("all", policy) for one in judged[model]]
            recall = mean(Fraction(*part) for part in recalls if part)
            faithful = mean(one.summary_faithful(policy) for one in judged[model])
            failed = sum(one.ending in FAILED for one in judged[model]) if policy == "left_out" else 0
            answered = [one for one in judged[model] if one.ending == "answered"]
            unread = lambda field: {"unjudged": sum(one.summary[field] is None for one in answered), "failure": failed}
            made[model] = {"recall": recall | {"out": unread("alignment")}, "faithfulness": faithful | {"out": unread("sentences")},
                           "mean": {"value": (recall["value"] + faithful["value"]) / 2}}
        return made

    def table_14():
        made = {"models": {}, "average": {}}
        for model in MODELS:
            read = [one.summary["sentences"] for one in judged[model] if one.ending == "answered" and one.summary["sentences"]]
            counts = {error: sum(s["label"] == error for sentences in read for s in sentences) for error in ERRORS}
            intrinsic = sum(counts[error] for error in ERRORS[1:])
            cells = {"extrinsic": (counts["out_of_article"], sum(counts.values())), "intrinsic": (intrinsic, sum(counts.values()))}
            cells |= {error: (counts[error], intrinsic) for error in ERRORS[1:]}
            made["models"][model] = {"counts": counts} | {name: share([cell]) for name, cell in cells.items()}
        for name in ("extrinsic", "intrinsic", "relation", "entity", "sentence"):
            made["average"][name] = mean(exact(made["models"][model][name]) for model in MODELS)
        return made

    def correlation(level):
        points = []
        for model in MODELS:
            for one in judged[model]:
                part = one.recall(level, "wrong") if one.ending == "answered" else None
                points += [(one.summary["words"], Fraction(*part))] if part else []
        n = len(points)
        centre = [Fraction(sum(point[axis] for point in points), 1) / n for axis in (0, 1)]
        product = lambda a, b: sum((point[a] - centre[a]) * (point[b] - centre[b]) for point in points)
        return {"value": float(product(0, 1)) / math.sqrt(product(0, 0) * product(1, 1)), "n": n}

    def case(table, expected, **more):
        name = table.lower().replace(" ", "-")
        return {"id": name, "table": table, "input": {"use": "made", "models": list(MODELS)} | more, "expected": expected}

    both = lambda made: {policy: made(policy) for policy in ("wrong", "left_out")}
    tables = {"Figure 3": figure_3, "Table 4": table_4, "Table 5": table_5, "Table 7": table_7}
    yield from (case(table, both(cells)) for table, cells in tables.items())
    yield case("Table 14", table_14())
    yield case("Section 5.2", {level: correlation(level) for level in levels})


given = made()
file = {"schema": "paper-tables/1", "paper": "hamlet",
        "tolerance": 1e-9, "inputs": {"made": given}, "cases": list(cases(given))}
print(json.dumps(file))
