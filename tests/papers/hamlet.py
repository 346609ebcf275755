#!/usr/bin/env python3
"""HAMLET's Figure 3, Tables 4 to 8, 13 and 14 and section 5.2 from run folders, held against a report cell by cell.

    hamlet.py REPORT.json RUN...

REPORT.json is `closeread report RUN... --paper hamlet --json`. Recall is over key facts, faithfulness over sentences, both pooled
over all summaries; Table 7 is the mean of the summaries' own ratios. Failures count as summaries that cover nothing, and in
the tables of the other reading are left out; what a judge did not say in words that can be read is in no number. Table 6 holds
each model that reasons against each that does not, over the same queries. The books are made of sentences of 12 tokens each.
Exit code 1 if a cell differs.
"""

import sys
from pathlib import Path

from records import Run, check, lines, mean, pearson, tokens

LEVELS = ["root", "branch", "leaf", "all"]
PERSPECTIVES = ["analytical", "narrative"]
# Root, branch, leaf, none, aligned with some fact, all.
SENTENCES = ["root", "branch", "leaf", "none", "aligned", "all"]
# A summary that was cut short is a summary.
ENDINGS = ["answered", "blocked", "failed", "overflow"]
FAILURES = {"cut_short", "blocked", "failed", "overflow"}
ERRORS = {"out-of-article": "extrinsic", "relation": "relation", "entity": "entity", "sentence": "sentence"}


def levels(item):
    """The level of each key fact, depth first."""
    found = []

    def walk(fact, depth):
        found.append(LEVELS[min(depth, 2)])
        for child in fact.get("children", []):
            walk(child, depth + 1)

    for root in item["key_facts"]["roots"]:
        walk(root, 0)
    return found


def category(name):
    """The kind of error of a category as judgements have it; none of a faithful sentence."""
    plain = name.lower().replace("_", "-").replace("outofarticle", "out-of-article").replace(" ", "-")
    return next((kind for words, kind in ERRORS.items() if plain.startswith(words)), None)


class Summary:
    """A planned summary: what the judges said of its facts and sentences, in so far as they can be read."""

    def __init__(self, run, item, rulings):
        self.item = run.items[item]
        ending = run.ending("query-summary", item)
        self.failed, self.reasons = ending in FAILURES, run.reasons
        self.words = len(run.trial("query-summary", item)["answer"].split()) if ending == "answered" else None
        self.levels = levels(self.item)
        facts, sentences = (rulings.get((item, judge)) for judge in ("align-key-facts", "verify-facts"))
        self.facts = facts and [fact or {"stated": False} for fact in facts["facts"]]
        readable = sentences and all(sentences["sentences"])
        self.errors = [category(one["category"]) for one in sentences["sentences"]] if readable else None

    @property
    def perspective(self):
        return self.item["labels"]["perspective"]

    @property
    def fifth(self):
        return 5 * self.item["chunk"] // self.item["n_chunks"]

    def recall(self, level):
        """Covered and all facts of a level; none where nobody said."""
        of = [level in (own, "all") for own in self.levels]
        if self.failed:
            return 0, sum(of)
        if self.facts is None:
            return None
        return sum(fact["stated"] for fact, own in zip(self.facts, of) if own), sum(of)

    def aligned(self, number):
        """The levels of the facts that a sentence, from 1, states."""
        return {own for fact, own in zip(self.facts, self.levels) if number in fact.get("sentences", [])}

    def faithful(self, scope):
        """Faithful and all sentences of a scope; none where nobody said."""
        if self.failed:
            return 0, 0
        if self.errors is None or (scope != "all" and self.facts is None):
            return None
        has = {"all": lambda n: True, "none": lambda n: not self.aligned(n), "aligned": lambda n: bool(self.aligned(n))}
        has = has.get(scope, lambda n: scope in self.aligned(n))
        own = [error for n, error in enumerate(self.errors, 1) if has(n)]
        return sum(error is None for error in own), len(own)


def share(parts):
    """Hits out of all, over what was said."""
    parts = [part for part in parts if part is not None]
    hits, of = sum(hit for hit, _ in parts), sum(of for _, of in parts)
    return hits / of if of else None


def ratios(parts, failed):
    """The mean of the summaries' own ratios; a failure has 0, a share of nothing is none."""
    return mean([0.0 if fails else part[0] / part[1] if part and part[1] else None for part, fails in zip(parts, failed)])


def gap(values):
    values = [value for value in values if value is not None]
    return max(values) - min(values) if len(values) > 1 else None


def against(a, b, left_out):
    """Three rows of Table 6: a model that reasons minus another, then both, over the queries where they can be compared."""
    pairs = [pair for pair in zip(a, b) if not (left_out and (pair[0].failed or pair[1].failed))]
    rows = []
    for at in (0, 1):
        both = lambda level: [pair for pair in pairs if None not in (pair[0].recall(level), pair[1].recall(level))]
        recalls = [share([pair[at].recall(level) for pair in both(level)]) for level in LEVELS]
        rows.append(recalls + [share([pair[at].faithful(scope) for pair in pairs]) for scope in SENTENCES])
    difference = [None if None in cells else cells[0] - cells[1] for cells in zip(*rows)]
    return [[len(a), *row] for row in [difference, *rows]]


def by_length(summaries):
    """A row of section 5.2: the correlation of a summary's words with its own recall, at each level."""
    def of(level):
        own = [(one.words, one.recall(level)) for one in summaries if one.words is not None]
        points = [(words, part[0] / part[1]) for words, part in own if part and part[1]]
        return pearson(*zip(*points)) if points else None

    return [of(level) for level in LEVELS]


def books(items, lengths):
    """Table 8: tokens, chunks, and the facts of each perspective by level with their sum, a row a book; queries."""
    rows = []
    for name, length in lengths.items():
        own = [item for item in items if item["documents"] == [name]]
        row = [length, own[0]["n_chunks"]]
        for perspective in PERSPECTIVES:
            found = [level for item in own if item["labels"]["perspective"] == perspective for level in levels(item)]
            row += [*(found.count(level) for level in LEVELS[:3]), len(found)]
        rows.append([*row, len(own)])
    rows += [[mean(column) for column in zip(*rows)], [sum(column) for column in zip(*rows)]]
    # Behind the tokens stands the date, which is text.
    return [[row[0], ..., *row[1:]] for row in rows]


def expected(runs, summaries, lengths):
    tables = {"books": books(list(runs[0].items.values()), lengths)}
    tables["hamlet-length"] = [by_length(own) for own in [*summaries, [one for own in summaries for one in own]]]
    for suffix, left_out in [("", False), ("-left-out", True)]:
        kept = [[one for one in own if not (left_out and one.failed)] for own in summaries]

        def recall(own, perspective, level, fifth=None):
            of = [one for one in own if one.perspective == perspective and fifth in (None, one.fifth)]
            return share([one.recall(level) for one in of])

        def fifths(own, perspective, level):
            return [recall(own, perspective, level, fifth) for fifth in range(5)]

        def across(value):
            cells = [value(own, perspective) for own in kept for perspective in PERSPECTIVES]
            return cells + [mean(cells[0::2]), mean(cells[1::2])]

        pairs = [(a, b) for a in summaries if a[0].reasons for b in summaries if not b[0].reasons]
        tables[f"hamlet-table-6{suffix}"] = [row for a, b in pairs for row in against(a, b, left_out)]
        tables[f"hamlet-figure-3{suffix}"] = [
            fifths(own, perspective, level) for perspective in PERSPECTIVES for level in LEVELS for own in kept]
        tables[f"hamlet-table-4{suffix}"] = [
            across(lambda own, perspective: gap(fifths(own, perspective, level))) for level in LEVELS]
        of_scope = lambda own, perspective, scope: share([one.faithful(scope) for one in own if one.perspective == perspective])
        tables[f"hamlet-table-5{suffix}"] = [
            across(lambda own, perspective: of_scope(own, perspective, scope)) for scope in SENTENCES]
        level_of = lambda own, part: ratios([part(one) for one in own], [one.failed for one in own])
        pairs = [(level_of(own, lambda one: one.recall("all")), level_of(own, lambda one: one.faithful("all"))) for own in kept]
        tables[f"hamlet-table-7{suffix}"] = [[r, f, None if None in (r, f) else (r + f) / 2] for r, f in pairs]
        rows = []
        for perspective in PERSPECTIVES:
            own_rows = []
            for own in kept:
                by_level = [fifths(own, perspective, level) for level in LEVELS]
                row = [by_level[level][fifth] for fifth in range(5) for level in range(4)]
                own_rows.append(row + [recall(own, perspective, level) for level in LEVELS])
            rows += own_rows + [[mean([row[column] for row in own_rows]) for column in range(24)]]
        tables[f"hamlet-table-13{suffix}"] = rows
    shares = []
    for kind in ["extrinsic", "intrinsic", "relation", "entity", "sentence"]:
        row = []
        for own in summaries:
            errors = [error for one in own if not one.failed and one.errors for error in one.errors if error]
            intrinsic = [error for error in errors if error != "extrinsic"]
            of = errors if kind in ("extrinsic", "intrinsic") else intrinsic
            hits = intrinsic if kind == "intrinsic" else [error for error in errors if error == kind]
            row.append(100 * len(hits) / len(of) if of else None)
        shares.append(row + [mean(row)])
    tables["hamlet-table-14"] = shares
    return tables


def judged(folder):
    """What was ruled, by item and judge."""
    found = {}
    for line in lines(Path(folder) / "judgements.jsonl"):
        if line["state"] == "ruled":
            found[line["item"], line["judge"]] = line["ruling"]
    return found


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [Run(folder) for folder in sys.argv[2:]]
    summaries = [[Summary(run, item, judged(folder)) for item in run.items] for run, folder in zip(runs, sys.argv[2:])]
    check(sys.argv[1], runs, expected(runs, summaries, tokens(Path(sys.argv[1]).parent, 12)), ENDINGS)
