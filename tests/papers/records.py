"""Run folders as they lie on the disk, and a report's tables held against expected cells. Knows no paper."""

import json
import sys
from pathlib import Path


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Run:
    """A run folder: its items by id, its trials by cell (method, budget), item and repeat."""

    def __init__(self, folder):
        folder = Path(folder)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        self.name = manifest.get("configuration_name")
        self.benchmark = manifest["configuration"]["benchmark"]
        self.methods = manifest["configuration"].get("methods", {})
        self.window = manifest["configuration"].get("context_window")
        self.reasons = manifest["configuration"].get("reasoning") not in (None, "off")
        self.models = sorted({cell["model"] for cell in manifest["configuration"]["cells"]})
        self.items = {item["id"]: item for item in lines(folder / "items.jsonl")}
        self.trials = {(r["method"], r["budget"], r["item"], r["repeat"]): r for r in lines(folder / "records.jsonl")}

    def judgements(self, folder, judge):
        """What each judging model ruled by this judge, by model and item; without what no ruling came of."""
        said = lines(Path(folder) / "judgements.jsonl")
        return {(one["judge_model"], one["item"]): one["ruling"] for one in said if one["judge"] == judge and "ruling" in one}

    def cells(self):
        return {(method, budget) for method, budget, _, _ in self.trials}

    def trial(self, method, item, budget=None, repeat=0):
        return self.trials[method, budget, item, repeat]

    def ending(self, method, item, budget=None, repeat=0):
        return self.trial(method, item, budget, repeat)["outcome"]

    def right(self, method, item, budget=None, repeat=0):
        """1 if the trial's answer is the gold answer, or the right option."""
        trial, gold = self.trial(method, item, budget, repeat), self.items[item]
        if trial["outcome"] != "answered":
            return 0.0
        return float(trial["choice"] == gold["correct"] if gold["task"] == "choice" else trial["answer"] in gold["answers"])


def percent(values):
    return 100 * sum(values) / len(values) if values else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def tokens(folder, of_sentence):
    """The length of each document beside a report whose sentences all have so many tokens."""
    documents = lines(folder / "houses" / "documents.jsonl")
    return {document["id"]: of_sentence * document["text"].count(".") for document in documents}


def pearson(a, b):
    """None where one side has one value alone."""
    ma, mb = mean(a), mean(b)
    squares = lambda values, centre: sum((value - centre) ** 2 for value in values)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / (squares(a, ma) * squares(b, mb)) ** 0.5


def deviation(values):
    """The sample standard deviation; none of fewer than two values."""
    if len(values) < 2:
        return None
    return (sum((value - mean(values)) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def check(report, runs, expected, endings):
    """Compares every cell of the expected tables; a value is a number, None, (number, deviation), or ... for one that is not
    computed here. Ends the program."""
    report = json.loads(Path(report).read_text(encoding="utf-8"))
    tables = {table["id"]: table for table in report["tables"]}
    seen = {trial["outcome"] for run in runs for trial in run.trials.values()}
    wrong = [f"no trial ended as {ending}" for ending in sorted(set(endings) - seen)]
    n_cells = 0
    same = lambda a, b: (a is None) == (b is None) and (a is None or abs(a - b) < 1e-6)
    for name, rows in expected.items():
        table = tables.get(name, {"rows": [], "columns": []})
        n_heads = len(table["columns"]) - len(rows[0])
        if len(table["rows"]) != len(rows):
            wrong.append(f"{name}: {len(table['rows'])} rows, expected {len(rows)}")
            continue
        for n, (row, values) in enumerate(zip(table["rows"], rows)):
            for column, cell, value in zip(table["columns"][n_heads:], row[n_heads:], values):
                if value is ...:
                    continue
                n_cells += 1
                value, spread = value if isinstance(value, tuple) else (value, None)
                shown = (cell.get("value", cell.get("count")), cell.get("sd"))
                if not (same(shown[0], value) and same(shown[1], spread)):
                    wrong.append(f"{name}, row {n + 1}, {column}: {shown}, expected {(value, spread)}")
    print(f"{n_cells} cells of {len(runs)} configurations, {n_cells - len(wrong)} of the cells agree")
    sys.exit("\n".join(wrong) or None)
