"""closeread's metrics as a scorer of inspect_ai, which finds it as `closeread/score`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Optional

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from ._one import one

__all__ = ["score"]


@scorer(metrics={"*": [mean(), stderr()]}, name="score")
def score(
    metrics: Optional[Sequence[str]] = None, chinese: Literal["reference", "characters"] = "reference"
) -> Scorer:
    """Scores a sample by closeread's metrics, one column for each, with `outcome` in the score's metadata.

    A sample with choices is a choice: what `multiple_choice` marked is the answer. Any other is scored against all texts of
    its target. Without `metrics` these are accuracy for choices, and F1 and exact match for texts.
    """

    async def scored(state: TaskState, target: Target) -> Score:
        options, choice, answer = [option.value for option in state.choices], None, state.output.completion
        if options:
            chosen = [place for place, option in enumerate(state.choices) if option.correct]
            choice, answer = (chosen[0] if len(chosen) == 1 else None), (None if chosen else answer)
        item = one(state.input_text, list(target), answer, metrics, chinese, options, choice)
        said = options[choice] if choice is not None else state.output.completion
        return Score(value=dict(item["scores"]), answer=said, metadata={"outcome": item["outcome"]})

    return scored
