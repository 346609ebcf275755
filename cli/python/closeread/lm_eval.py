"""closeread's metrics for the tasks of lm-evaluation-harness.

A task's YAML names `process_results: !function utils.process_results`, and the file `utils.py` beside it says
`from closeread.lm_eval import process_results`, or makes one by `scorer`. `metric_list` names the same metrics, with
`aggregation: mean`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ._one import one

__all__ = ["process_results", "scorer"]


def scorer(
    metrics: Sequence[str] = ("f1", "exact_match"),
    *,
    question: str = "question",
    target: str = "target",
    chinese: Literal["reference", "characters"] = "reference",
) -> Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]:
    """Makes a `process_results` that scores the generated text.

    `question` and `target` name fields of the task's documents; a target is a text, or a list of all that are acceptable.
    """

    def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
        if target not in doc:
            raise ValueError(f"the document has no field `{target}`: name the one with the gold answers by `target`")
        targets, answer = doc[target], results[0]
        if not isinstance(answer, str):
            raise ValueError(f"the result is {type(answer).__name__}: expected text, as of output_type generate_until")
        targets = [targets] if isinstance(targets, str) else list(targets)
        scores = one(str(doc.get(question, "")), targets, answer, list(metrics), chinese)["scores"]
        return {metric: scores[metric] for metric in metrics}

    return process_results


process_results = scorer()
"""Scores by F1 and exact match, from the fields `question` and `target`."""
