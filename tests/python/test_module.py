"""The Python module against the command line and the vectors: `python3 tests/python/test_module.py`, with the module on the path.

CLOSEREAD_BINARY names the program, CLOSEREAD_VECTORS further vectors. Nothing but Python itself is needed.
"""

import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import closeread
from closeread._one import one

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["CLOSEREAD_BINARY"]
FOLDERS = [ROOT / "tests/vectors"] + [pathlib.Path(path) for path in [os.environ.get("CLOSEREAD_VECTORS")] if path]
GOLD = [
    {"id": "a", "documents": ["x"], "question": "Who?", "task": "generative", "answers": ["Ana Lee", "Ana"], "labels": {"kind": "who"}},
    {"id": "b", "documents": ["x"], "question": "Which?", "task": "choice", "options": ["one", "two"], "correct": 1},
]
SAID = [{"item": "a", "answer": "Ana"}, {"item": "b", "choice": 0}]
METRICS = ["f1", "exact_match", "f1_v2", "infinitebench_en_f1", "infinitebench_zh_f1", "rouge1", "rouge2", "rougeL", "rougeLsum",
           "bleu_1", "bleu_4", "meteor"]


def printed(*words):
    """What the command line prints as JSON; a row that is left out makes its exit code 1."""
    ended = subprocess.run([BINARY, *map(str, words)], capture_output=True, encoding="utf-8")
    assert ended.returncode in (0, 1), ended.stderr
    return json.loads(ended.stdout)


def vectors(name):
    files = [folder / name for folder in FOLDERS if (folder / name).is_file()]
    assert files, name
    return [case for file in files for case in json.loads(file.read_text("utf-8"))["cases"]]


def expected_of(case):
    """The numbers of a case of text_metrics.json by the metric's name, without those its reference refused."""
    expected = case["expected"]
    found = {name: expected["rouge"][name]["fmeasure"] for name in METRICS if name.startswith("rouge")}
    found.update({name: expected[name].get("bleu") for name in METRICS if name.startswith("bleu")})
    found.update({name: expected[name] for name in ("infinitebench_en_f1", "infinitebench_zh_f1", "meteor")})
    found.update(f1=expected["squad_v1"]["f1"], exact_match=expected["squad_v1"]["exact_match"], f1_v2=expected["squad_v2"]["f1"])
    return {name: value for name, value in found.items() if isinstance(value, (int, float))}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, rows):
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        path = self.folder / name
        path.write_text("\n".join(lines), "utf-8")
        return path

    def refused(self, *words, of):
        with self.assertRaises(ValueError) as caught:
            of()
        for word in words:
            self.assertIn(word, str(caught.exception))


class Scores(Case):
    def test_scorecards_of_the_vectors_are_those_of_the_command_line(self):
        for case in vectors("scorecard.json"):
            gold, said = self.write("items.jsonl", case["gold"]), self.write("predictions.jsonl", case["predictions"])
            metrics, by = case.get("metrics", []), case.get("by", [])
            chinese = "characters" if case.get("chinese") == "chinese_characters" else "reference"
            card = closeread.score(gold, str(said), metrics, by, chinese=chinese, bad_rows="leave_out")
            words = ["score", "--gold", gold, "--predictions", said, "--chinese", chinese, "--json"]
            words += ["--metric", ",".join(metrics)] * bool(metrics) + ["--group-by", ",".join(by)] * bool(by)
            self.assertEqual(card, printed(*words), case["id"])
            rows = closeread.score(case["gold"], said, metrics, by, chinese=chinese, bad_rows="leave_out")
            for part in ("metrics", "policies", "by", "items"):
                self.assertEqual(rows[part], card[part], case["id"])
            for pointer, value in case["expected"].items():
                found = card
                for step in pointer.split("/")[1:]:
                    step = step.replace("~1", "/").replace("~0", "~")
                    found = found[int(step)] if isinstance(found, list) else found[step]
                same = abs(found - value) <= 1e-12 if isinstance(value, float) else found == value
                self.assertTrue(same, f"{case['id']} {pointer}: {found}, expected {value}")

    def test_text_metrics_are_those_of_the_vectors_and_of_the_command_line(self):
        cases = vectors("text_metrics.json")
        gold = [{"id": str(n), "documents": [f"book {n % 7}"], "question": "?", "task": "generative", "answers": case["references"]}
                for n, case in enumerate(cases)]
        said = [{"item": str(n), "answer": case["prediction"]} for n, case in enumerate(cases)]
        card = closeread.score(gold, said, METRICS, "document", bad_rows="leave_out")
        files = ["--gold", self.write("items.jsonl", gold), "--predictions", self.write("predictions.jsonl", said)]
        line = printed("score", *files, "--metric", ",".join(METRICS), "--group-by", "document", "--json")
        for part in ("n", "metrics", "policies", "by", "items"):
            self.assertEqual(card[part], line[part], part)
        compared = 0
        for item in card["items"]:
            case = cases[int(item["id"])]
            for metric, value in expected_of(case).items():
                if item["outcome"] == "answered":
                    self.assertAlmostEqual(item["scores"][metric], value, delta=1e-9, msg=f"{case['id']} {metric}")
                    compared += 1
        self.assertGreater(compared, 1000)

    def test_published_files_are_scored_as_by_the_command_line(self):
        (self.folder / "preds_longbook_qa_eng.jsonl").write_text(
            json.dumps({"id": 0, "prediction": "Ana", "ground_truth": ["Ana Lee", "Ana"]}) + "\n"
        )
        path = self.folder / "preds_longbook_qa_eng.jsonl"
        card = closeread.score(None, [path], format="infinitebench", task="longbook_qa_eng")
        line = printed("score", "--format", "infinitebench", "--task", "longbook_qa_eng", path, "--json")
        self.assertEqual(card, line)

    def test_a_letter_alone_is_an_option_s_place_as_inspect_ai_has_it(self):
        scored = one("Which group?", ["B"], None, None, "reference", ["O", "A", "B", "AB"], 1)
        self.assertEqual(scored["scores"], {"accuracy": 1.0})
        self.refused("2 targets", of=lambda: one("Which?", ["A", "C"], None, None, "reference", ["x", "y", "z"], 0))

    def test_bad_input_is_a_value_error_that_names_it(self):
        score = closeread.score
        path = self.write("p.jsonl", [SAID[0], {"item": "z", "answer": "x"}, "{"])
        self.refused("2 rows cannot be used", f"{path}:2 (z): ", f"{path}:3: ", of=lambda: score(GOLD, path))
        self.refused("predictions:1 (b): `choice` is 7: expected a whole number from 0 to 1", of=lambda: score(GOLD, [{"item": "b", "choice": 7}]))
        self.refused("gold holds no item", of=lambda: score([], SAID))
        self.refused("cannot read nowhere.jsonl", of=lambda: score("nowhere.jsonl", SAID))
        self.refused("unknown metric `f0`", "rougeL", of=lambda: score(GOLD, SAID, "f0"))
        self.refused("no item has a label `colour`", "`kind`", of=lambda: score(GOLD, SAID, by="colour"))
        self.refused("unknown format `x`", "novelqa", of=lambda: score(GOLD, SAID, format="x"))
        self.refused("pass `format`", of=lambda: score(GOLD, SAID, task="x"))
        self.refused("predictions:1: ", "expected what JSON can hold", of=lambda: score(GOLD, [{"item": "a", "answer": {1j}}]))
        self.refused("predictions:1: str: expected a dict", of=lambda: score(GOLD, ["a"]))
        self.refused("gold is int: expected a path", of=lambda: score(3, SAID))
        self.assertEqual(score(GOLD, path, bad_rows="leave_out")["ledger"]["missing"], 1)
        wrong = [{"item": "z", "answer": "x"}]
        self.refused("no row of the predictions can be used", "predictions:1 (z)", of=lambda: score(GOLD, wrong, bad_rows="leave_out"))

    def test_other_threads_go_on(self):
        gold = [dict(GOLD[0], id=str(n), answers=["the miller of the far hill " * 20]) for n in range(400)]
        said = [{"item": str(n), "answer": "a miller from the other side of the hill " * 20} for n in range(400)]
        steps = []

        def work():
            steps.append("begun")
            closeread.score(gold_file, said_file, ["rougeLsum", "meteor"])
            steps.append("done")

        gold_file, said_file = self.write("items.jsonl", gold), self.write("predictions.jsonl", said)
        before = sys.getswitchinterval()
        # No thread is made to stop: another one goes on only where the lock is let go.
        sys.setswitchinterval(1000)
        try:
            thread = threading.Thread(target=work)
            thread.start()
            while not steps:
                time.sleep(0)
            self.assertEqual(steps, ["begun"])
            thread.join()
        finally:
            sys.setswitchinterval(before)
        self.assertEqual(steps, ["begun", "done"])


class Runs(Case):
    """A run of the sample by the program itself."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.run_folder = pathlib.Path(folder.name) / "r"
        words = ["run", "--method", "vanilla-rag,dos-rag", "--budget", "500", "--retriever", "bm25", "--limit", "12", "--quiet"]
        subprocess.run([BINARY, *words, "--out", cls.run_folder], check=True, stdout=subprocess.DEVNULL)

    def test_comparisons_are_those_of_the_command_line(self):
        cells = ("vanilla-rag", "dos-rag")
        compared = closeread.compare(self.run_folder, method=cells)
        self.assertEqual(compared, printed("compare", self.run_folder, "--method", ",".join(cells), "--json"))
        one = closeread.compare(str(self.run_folder), metrics="f1", by="language", method=cells, budget=500)
        words = ["compare", self.run_folder, "--method", ",".join(cells), "--metric", "f1", "--group-by", "language", "--budget", "500"]
        self.assertEqual(one, printed(*words, "--json"))

    def test_scorecards_are_compared_as_their_files(self):
        cards = [closeread.score(GOLD, SAID), closeread.score(GOLD, [dict(SAID[0], answer="Bo"), SAID[1]])]
        files = [self.write(f"{name}.json", [card]) for name, card in zip("ab", cards)]
        line = printed("compare", *files, "--json")
        self.assertEqual(closeread.compare(*cards)["comparisons"][0]["overall"], line["comparisons"][0]["overall"])
        self.assertEqual(closeread.compare(*files), line)

    def test_bad_input_is_a_value_error_that_names_it(self):
        self.refused("nowhere is neither a run folder", of=lambda: closeread.compare("nowhere"))
        self.refused("vanilla-rag at 500", "dos-rag at 500", of=lambda: closeread.compare(self.run_folder))
        self.refused("expected the output of `closeread score --json`", of=lambda: closeread.compare({}, {}))
        self.refused("a is list: expected a path", of=lambda: closeread.compare([]))
        self.refused("expected a run folder", of=lambda: closeread.load_run(self.folder))
        self.refused("no table `x`: expected some of cells", of=lambda: closeread.load_run(self.run_folder, tables=["x"]))
        self.refused("`frames` is 'x'", of=lambda: closeread.load_run(self.run_folder, frames="x"))

    def test_a_run_is_tables_of_dicts(self):
        run = closeread.load_run(self.run_folder, frames=None)
        self.assertEqual((run.name, run.lacks, len(run.items)), ("r", [], 12))
        self.assertEqual(len(run.trials), 24)
        report = json.loads((self.run_folder / "report.json").read_text())
        for cell in report["cells"]:
            rows = [row for row in run.cells if row["method"] == cell["method"] and row["policy"] == "failures_wrong"]
            means = {row["metric"]: (row["score"], row["low"], row["high"], row["n"]) for row in rows}
            estimates = cell["metrics"].items()
            self.assertEqual(means, {name: (e["value"], e["low"], e["high"], e["n"]) for name, e in estimates})
        records = [json.loads(line) for line in (self.run_folder / "records.jsonl").read_text().splitlines()]
        self.assertEqual(len(run.calls), sum(len(record["calls"]) for record in records))
        spans = {(p["document"], p["start"], p["end"]) for record in records for p in record["context"]["passages"]}
        self.assertEqual({(row["document"], row["start"], row["end"]) for row in run.passages}, spans)
        only = closeread.load_run(self.run_folder, frames=None, tables="cells")
        self.assertEqual((only.cells, only.calls), (run.cells, None))


class Documentation(unittest.TestCase):
    def test_the_reference_names_everything_that_is_public(self):
        text = (ROOT / "docs/python.md").read_text("utf-8")
        for name in closeread.__all__:
            self.assertIn(f"`{name}", text)
        for function in (closeread.score, closeread.compare, closeread.load_run):
            self.assertTrue(inspect.getdoc(function))
            for parameter in inspect.signature(function).parameters:
                self.assertIn(f"`{parameter}`", text, function.__name__)
        for field in closeread.Run.__dataclass_fields__:
            self.assertIn(f"`{field}`", text)


if __name__ == "__main__":
    unittest.main()
