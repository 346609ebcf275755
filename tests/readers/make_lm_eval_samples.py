"""Writes the samples of lm-evaluation-harness that the tests read: `python make_lm_eval_samples.py` with lm_eval==0.4.13.

Two models that answer from a list, so that nothing is asked of a server and scores are known beforehand.
"""

import json
import pathlib
import shutil

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

HERE = pathlib.Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "questions.jsonl").read_text().splitlines()]
LETTERS = {"first": "ABBBCA", "second": "ABABCB"}
TEXTS = {
    "first": ["Ana", "in the mill", "the miller", "a lamp", "Dov", "in spring"],
    "second": ["Ana", "under the stair", "the miller", "lamp", "Dov", "in autumn"],
}


class Listed(LM):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def place(self, question):
        return next(n for n, row in enumerate(ROWS) if row["question"] == question)

    def loglikelihood(self, requests):
        likely = []
        for request in requests:
            question, option = request.args
            place = self.place(question)
            chosen = ROWS[place]["choices"]["ABC".index(LETTERS[self.name][place])]
            likely.append((-1.0 if option.strip() == chosen else -9.0, False))
        return likely

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    def generate_until(self, requests):
        return [TEXTS[self.name][self.place(request.args[0])] for request in requests]


def main():
    out = HERE / "lm_eval"
    shutil.rmtree(out, ignore_errors=True)
    for name in LETTERS:
        manager = TaskManager(include_path="lm_eval_tasks", include_defaults=False)
        tracker = EvaluationTracker(output_path=str(out))
        results = lm_eval.simple_evaluate(
            model=Listed(name), tasks=["tales_choice", "tales_open"], task_manager=manager, log_samples=True,
            bootstrap_iters=0, evaluation_tracker=tracker,
        )
        samples = results.pop("samples")
        tracker.general_config_tracker.model_name = f"listed/{name}"
        tracker.general_config_tracker.model_name_sanitized = f"listed__{name}"
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)
    # They name folders of this machine, and nothing reads them.
    for results in out.glob("*/results_*.json"):
        results.unlink()


if __name__ == "__main__":
    main()
