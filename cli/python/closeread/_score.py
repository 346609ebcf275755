from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Optional, TypedDict, cast

from . import _native
from ._rows import Path, Rows, names, source, sources


class Estimate(TypedDict):
    """A mean from 0 to 1 with its 95% interval; `interval` names the method of the interval."""

    value: float
    low: float
    high: float
    n: int
    interval: str


class Problem(TypedDict):
    """A row that cannot be used, or was used with a repair."""

    file: str
    line: Optional[int]
    item: Optional[str]
    message: str
    dropped: bool


class Problems(TypedDict):
    """Rows left out, by reason."""

    duplicate_ids: list[Problem]
    unknown_ids: list[Problem]
    malformed_rows: list[Problem]


class Group(TypedDict):
    """The items that share a label's value."""

    n: int
    ledger: dict[str, int]
    metrics: dict[str, Estimate]


class PolicyScores(TypedDict):
    """Means under another policy for failures."""

    n: int
    metrics: dict[str, Estimate]


class _Item(TypedDict):
    id: str
    outcome: str
    documents: list[str]
    gold: str
    scores: dict[str, float]


class ScoredItem(_Item, total=False):
    """An item: its outcome, and its score by metric."""

    labels: dict[str, str]


class _Card(TypedDict):
    n: int
    complete: bool
    ledger: dict[str, object]
    policy: str
    metrics: dict[str, Estimate]
    policies: dict[str, PolicyScores]
    chinese: str
    by: dict[str, dict[str, Group]]
    items: list[ScoredItem]
    notes: list[str]


class Scorecard(_Card, total=False):
    """The output of `closeread score --json`: means with intervals, a ledger that counts every item, and each item's scores."""

    main: str


def score(
    gold: Rows | Sequence[Path] | None,
    predictions: Rows | Sequence[Path],
    metrics: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    *,
    format: str | None = None,
    task: str | None = None,
    system: str | None = None,
    chinese: Literal["reference", "characters"] = "reference",
    bad_rows: Literal["raise", "leave_out"] = "raise",
) -> Scorecard:
    """Scores predictions against gold answers, with intervals: `closeread score --json` as a dict.

    `gold` has the items: a path of items.jsonl or of the folder that holds it, dicts with id, documents, question, task and
    answers (or options and correct), or a data frame with these columns. `predictions` has a row an item: item, and answer or
    choice. `metrics` are names such as "f1" or "rougeL", the main one first; without them each item's task decides. `by` are
    labels to break scores down by; also "task" and "document".

    With `format` the predictions are files as they were published (see `closeread help formats`), and `task` and `system` say
    which of theirs.

    A row that cannot be used raises `ValueError`, which names it; with bad_rows="leave_out" it stands in the card's
    ledger, as on the command line, unless no row can be used. An item without a prediction counts as missing, and is wrong.
    """
    scoring = {"metrics": names(metrics), "by": names(by), "chinese": chinese, "bad_rows": bad_rows}
    if format is not None:
        gold_files, files = sources(gold, "gold"), sources(predictions, "predictions")
        card = _native.score_format(format, gold_files, files, scoring, task, system)
    elif task is not None or system is not None:
        raise ValueError("`task` and `system` say which of a format's: pass `format` with them")
    else:
        card = _native.score(source(gold, "gold"), source(predictions, "predictions"), scoring)
    return cast(Scorecard, json.loads(card))
