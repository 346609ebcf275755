"""Writes the logs of inspect_ai that the tests read: `python make_inspect_logs.py` with inspect_ai==0.3.285.

A mock model answers from a list, so that nothing is asked of a server and scores are known beforehand. Run it in a copy of this
folder outside any repository: inspect notes where the repository was cloned from.
"""

import json
import pathlib
import shutil

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import convert_eval_logs
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, match
from inspect_ai.solver import generate, multiple_choice

HERE = pathlib.Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "questions.jsonl").read_text().splitlines()]
# What the two models say to the choices, item by item, and to the open questions.
LETTERS = {"first": "ABBBCA", "second": "ABABCB"}
TEXTS = {
    "first": ["Ana", "in the mill", "the miller", "a lamp", "Dov", "in spring"],
    "second": ["Ana", "under the stair", "the miller", "a lamp", "Dov", "in autumn"],
}


def model(name, answers):
    outputs = [ModelOutput.from_content(f"mockllm/{name}", answer) for answer in answers]
    for output in outputs:
        # Without it inspect counts tokens, for which it fetches a vocabulary.
        output.usage = ModelUsage(input_tokens=20, output_tokens=3, total_tokens=23)
    return get_model(f"mockllm/{name}", custom_outputs=outputs, memoize=False)


def samples(kind):
    for row in ROWS:
        metadata = {"document": row["document"], "kind": "who" if row["question"].startswith("Who") else "other"}
        if kind == "choice":
            yield Sample(id=row["id"], input=row["question"], choices=row["choices"], target="ABC"[row["answer"]], metadata=metadata)
        else:
            yield Sample(id=row["id"], input=row["question"], target=row["target"], metadata=metadata)


def main():
    out = HERE / "inspect"
    shutil.rmtree(out, ignore_errors=True)
    for name in LETTERS:
        for kind in ("choice", "open"):
            if kind == "choice":
                task = Task(name="tales_choice", dataset=list(samples(kind)), solver=multiple_choice(), scorer=choice())
                answers = [f"ANSWER: {letter}" for letter in LETTERS[name]]
            else:
                task = Task(name="tales_open", dataset=list(samples(kind)), solver=generate(), scorer=match(location="exact"))
                answers = TEXTS[name]
            # One sample at a time: the answers come in the order of the samples.
            (log,) = eval(task, model=model(name, answers), log_dir=str(out / "raw"), max_samples=1, max_connections=1, display="none")
            assert log.status == "success", log.error.message
            path = pathlib.Path(str(log.location).removeprefix("file://"))
            path.rename(out / f"{name}-{kind}.eval")
    convert_eval_logs(str(out / "second-open.eval"), to="json", output_dir=str(out / "json"), overwrite=True)
    (out / "json" / "second-open.json").rename(out / "second-open.json")
    shutil.rmtree(out / "json")
    shutil.rmtree(out / "raw")


if __name__ == "__main__":
    main()
