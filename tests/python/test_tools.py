"""The Python module beside the tools it is for: `python tests/python/test_tools.py`, with tests/readers/requirements.txt installed.

pandas and polars read what `closeread export parquet` wrote; inspect_ai and lm-evaluation-harness run tasks that closeread scores.
"""

import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import closeread

warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ["CLOSEREAD_BINARY"]
ROWS = [json.loads(line) for line in (ROOT / "tests/readers/questions.jsonl").read_text("utf-8").splitlines()]
SAID = ["Ana", "under the stair", "the old miller", "lamp", "Dov", None]
LETTERS = "ABABCB"
METRICS = ["f1", "exact_match", "rougeL"]


def open_card(said, metrics=METRICS):
    """What closeread itself says of the open questions."""
    gold = [{"id": row["id"], "documents": [row["document"]], "question": row["question"], "task": "generative", "answers": [row["target"]]}
            for row in ROWS]
    return closeread.score(gold, [{"item": row["id"], "answer": answer} for row, answer in zip(ROWS, said)], metrics)


class Frames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        words = ["run", "--method", "closed-book,dos-rag", "--budget", "300", "--retriever", "bm25", "--limit", "10", "--quiet"]
        subprocess.run([BINARY, *words, "--out", cls.folder / "r"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BINARY, "export", "parquet", cls.folder / "r", "--out", cls.folder / "tables"], check=True)

    def test_frames_of_pandas_are_those_of_the_exported_tables(self):
        import pandas

        run = closeread.load_run(self.folder / "r")
        for name in ("cells", "trials", "items", "calls", "passages"):
            ours, theirs = getattr(run, name), pandas.read_parquet(self.folder / "tables" / f"{name}.parquet")
            self.assertIsInstance(ours, pandas.DataFrame)
            self.assertGreater(len(ours), 0)
            self.assertEqual(list(ours.columns), list(theirs.columns))
            pandas.testing.assert_frame_equal(ours, theirs.astype(ours.dtypes.to_dict()), check_exact=True)

    def test_frames_of_polars_are_those_of_the_exported_tables(self):
        import polars
        from polars.testing import assert_frame_equal

        run = closeread.load_run(self.folder / "r", frames="polars")
        for name in ("cells", "trials", "items", "calls", "passages"):
            theirs = polars.read_parquet(self.folder / "tables" / f"{name}.parquet")
            assert_frame_equal(getattr(run, name), theirs, check_exact=True)

    def test_frames_are_scored_as_rows(self):
        import pandas
        import polars

        gold = [{"id": "a", "documents": ["x"], "question": "Who?", "task": "generative", "answers": ["Ana"]},
                {"id": "b", "documents": ["x"], "question": "Which?", "task": "choice", "options": ["one", "two"], "correct": 1}]
        said = [{"item": "a", "answer": "Ana"}, {"item": "b", "choice": 1}]
        rows = closeread.score(gold, said)
        self.assertEqual(closeread.score(pandas.DataFrame(gold), pandas.DataFrame(said)), rows)
        self.assertEqual(closeread.score(polars.DataFrame(gold), polars.DataFrame(said)), rows)
        with self.assertRaisesRegex(ValueError, r"predictions:1 \(z\): gold has no item of this id"):
            closeread.score(pandas.DataFrame(gold), pandas.DataFrame([{"item": "z", "answer": "x"}]))


class InspectAi(unittest.TestCase):
    def evaluated(self, kind, answers, scorer):
        from inspect_ai import Task, eval
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ModelOutput, ModelUsage, get_model
        from inspect_ai.solver import generate, multiple_choice

        outputs = [ModelOutput.from_content("mockllm/listed", answer) for answer in answers]
        for output in outputs:
            # Without it inspect counts tokens, for which it fetches a vocabulary.
            output.usage = ModelUsage(input_tokens=20, output_tokens=3, total_tokens=23)
        is_open = kind == "open"
        samples = [Sample(id=row["id"], input=row["question"], choices=None if is_open else row["choices"],
                          target=row["target"] if is_open else "ABC"[row["answer"]]) for row in ROWS]
        solver = generate() if is_open else multiple_choice()
        model = get_model("mockllm/listed", custom_outputs=outputs, memoize=False)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (log,) = eval(Task(dataset=samples, solver=solver, scorer=scorer), model=model, log_dir=folder.name, max_samples=1,
                      max_connections=1, display="none")
        self.assertEqual(log.status, "success", log.error and log.error.message)
        means = {score.name: score.metrics["mean"].value for score in log.results.scores}
        scores = {sample.id: sample.scores["score"] for sample in log.samples}
        return means, [scores[row["id"]] for row in ROWS]

    def test_the_entry_point_registers_the_scorer(self):
        from inspect_ai.log import read_eval_log

        (entry,) = importlib.metadata.entry_points(group="inspect_ai", name="closeread")
        self.assertEqual(entry.value, "closeread.inspect_ai")
        # inspect finds it by name, in a process that imports nothing of closeread.
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "scored.eval"
            words = ["score", ROOT / "tests/readers/inspect/first-open.eval", "--scorer", "closeread/score", "-S", "metrics=f1,rougeL",
                     "--action", "append", "--output-file", out]
            command = [sys.executable, "-c", "from inspect_ai._cli.main import main; main()", *map(str, words)]
            ended = subprocess.run(command, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            log = read_eval_log(str(out))
        samples = {sample.id: sample for sample in log.samples}
        samples = [samples[row["id"]] for row in ROWS]
        card = open_card([sample.output.completion for sample in samples], ["f1", "rougeL"])
        self.assertEqual([sample.scores["score"].value for sample in samples], [item["scores"] for item in card["items"]])

    def test_texts_are_scored_as_by_closeread(self):
        from closeread.inspect_ai import score

        said = [answer or "" for answer in SAID]
        card = open_card(said)
        means, scores = self.evaluated("open", said, score(METRICS))
        self.assertEqual([one.value for one in scores], [item["scores"] for item in card["items"]])
        self.assertEqual([one.metadata["outcome"] for one in scores], [item["outcome"] for item in card["items"]])
        for metric in METRICS:
            self.assertAlmostEqual(means[metric], card["metrics"][metric]["value"], delta=1e-12)

    def test_choices_are_scored_as_by_closeread(self):
        from closeread.inspect_ai import score

        means, scores = self.evaluated("choice", [f"ANSWER: {letter}" for letter in LETTERS], score())
        right = [float("ABC".index(letter) == row["answer"]) for letter, row in zip(LETTERS, ROWS)]
        self.assertEqual([one.value for one in scores], [{"accuracy": value} for value in right])
        self.assertAlmostEqual(means["accuracy"], sum(right) / len(right), delta=1e-12)
        self.assertEqual(scores[0].answer, ROWS[0]["choices"][0])


class LmEval(unittest.TestCase):
    def test_a_task_is_scored_as_by_closeread(self):
        os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
        import lm_eval
        from lm_eval.api.model import LM
        from lm_eval.tasks import TaskManager

        said = [answer or "" for answer in SAID]

        class Listed(LM):
            def loglikelihood(self, requests):
                raise NotImplementedError

            loglikelihood_rolling = loglikelihood

            def generate_until(self, requests):
                place = {row["question"]: n for n, row in enumerate(ROWS)}
                return [said[place[request.args[0]]] for request in requests]

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            os.environ["HF_HOME"] = name
            metric_list = "".join(f"  - metric: {metric}\n    aggregation: mean\n    higher_is_better: true\n" for metric in METRICS)
            (folder / "tales.yaml").write_text(
                f"task: tales\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {ROOT / 'tests/readers/questions.jsonl'}\n"
                "test_split: test\noutput_type: generate_until\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{target}}'\n"
                f"process_results: !function utils.process_results\nmetric_list:\n{metric_list}metadata:\n  version: 1.0\n"
            )
            (folder / "utils.py").write_text(f"from closeread.lm_eval import scorer\nprocess_results = scorer({METRICS})\n")
            manager = TaskManager(include_path=name, include_defaults=False)
            results = lm_eval.simple_evaluate(model=Listed(), tasks=["tales"], task_manager=manager, bootstrap_iters=0, log_samples=True)
        card = open_card(said)
        for metric in METRICS:
            self.assertAlmostEqual(results["results"]["tales"][f"{metric},none"], card["metrics"][metric]["value"], delta=1e-12)
        rows = sorted(results["samples"]["tales"], key=lambda sample: sample["doc_id"])
        self.assertEqual([{metric: row[metric] for metric in METRICS} for row in rows], [item["scores"] for item in card["items"]])

    def test_bad_input_is_a_value_error_that_names_it(self):
        from closeread.lm_eval import process_results, scorer

        with self.assertRaisesRegex(ValueError, "no field `target`"):
            process_results({"question": "?"}, ["x"])
        with self.assertRaisesRegex(ValueError, "generate_until"):
            process_results({"question": "?", "target": "x"}, [(-1.0, True)])
        with self.assertRaisesRegex(ValueError, "unknown metric `f0`"):
            scorer(["f0"])({"question": "?", "target": "x"}, ["x"])


if __name__ == "__main__":
    unittest.main()
