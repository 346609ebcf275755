from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, TypedDict, Union, cast

from . import _native
from ._rows import Path, Source, names
from ._score import Scorecard


class ComparisonSide(TypedDict):
    """One side of a comparison: its name and path."""

    name: str
    path: str


class Overall(TypedDict):
    """A paired difference, B minus A, with its interval and tests."""

    n: int
    clusters: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    interval: str
    standard_error: Optional[float]
    p_value: Optional[float]
    test: str
    mcnemar: Optional[dict[str, Any]]
    permutation_p: Optional[float]
    bootstrap: Optional[dict[str, float]]
    needed: Optional[dict[str, Any]]


class LabelComparison(Overall):
    """A difference on the items of one label value; `p_holm` is corrected for all values that were compared."""

    p_holm: float


class Flip(TypedDict):
    """An item with two scores."""

    id: str
    a: float
    b: float


class Unpaired(TypedDict):
    """Items that are not compared, by reason."""

    only_a: list[str]
    only_b: list[str]
    other_gold: list[str]
    unscored_a: list[str]
    unscored_b: list[str]


class Comparison(TypedDict):
    """The comparison of two cells by one metric."""

    cell_a: dict[str, Any]
    cell_b: dict[str, Any]
    metric: str
    a: str
    b: str
    conclusion: str
    overall: Optional[Overall]
    failures_left_out: Optional[Overall]
    by: dict[str, dict[str, LabelComparison]]
    gained: list[Flip]
    lost: list[Flip]
    unpaired: Unpaired
    notes: list[str]


class Comparisons(TypedDict):
    """The output of `closeread compare --json`."""

    a: ComparisonSide
    b: ComparisonSide
    comparisons: list[Comparison]


def compare(
    a: Path | Scorecard,
    b: Path | Scorecard | None = None,
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    *,
    method: str | Sequence[str] | None = None,
    model: str | Sequence[str] | None = None,
    budget: int | Sequence[int] | None = None,
    gold: Path | None = None,
) -> Comparisons:
    """Compares two runs, or two cells of a run, item by item: `closeread compare --json` as a dict.

    A side is a run folder, a log of inspect_ai or lm-evaluation-harness (or a folder of them), the output of
    `closeread score --json`, or what `score` returned. Differences are B minus A, paired by item and clustered by document.

    `metrics`: only these. `method`, `model` and `budget` choose cells: one value for both sides, or A's and B's.
    `by`: labels to break down by, instead of every label with 2 to 20 values. `gold`: a benchmark's folder, for score files
    without labels.

    `ValueError` says what cannot be compared.
    """
    chosen = {
        "metric": names(metrics),
        "method": names(method),
        "model": names(model),
        "budget": [] if budget is None else [budget] if isinstance(budget, int) else list(budget),
        "by": names(by),
    }
    other = None if b is None else _side(b, "b")
    printed = _native.compare(_side(a, "a"), other, chosen, None if gold is None else os.fspath(gold))
    return cast(Comparisons, json.loads(printed))


def _side(value: Union[Path, Scorecard], name: str) -> Source:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {type(value).__name__}: expected a path or what closeread.score returns")
    return name, json.dumps(value).encode()
