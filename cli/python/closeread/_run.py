from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

from . import _native
from ._rows import Path

_TABLES = ("cells", "trials", "items", "calls", "passages")
_Frames = Union[Literal["auto", "pandas", "polars"], None]
_Columns = list[tuple[str, str, list[Any]]]


@dataclass(frozen=True)
class Run:
    """A run folder as tables, with the columns of `closeread export parquet`.

    Each table is a data frame, or a list of dicts; one that was not asked for is None.
    """

    name: str
    """The folder's name."""
    lacks: list[str]
    """Damaged and missing parts, a sentence each; empty for a complete run."""
    cells: Any = None
    """A row for each cell, metric and policy: score, low, high, n."""
    trials: Any = None
    """A row for each planned trial: outcome, answer, tokens, cost, a `score_*` for each metric, a `metadata_*` for each label."""
    items: Any = None
    """A row for each item: question, target, choices, evidence."""
    calls: Any = None
    """A row for each call of a model: prompt, response, tokens, cost."""
    passages: Any = None
    """A row for each passage that a model saw: document, start, end, score."""


def load_run(folder: Path, *, frames: _Frames = "auto", tables: Union[str, Sequence[str]] = _TABLES) -> Run:
    """Reads a run folder as tables.

    `frames` chooses data frames of "pandas" or "polars", or None for lists of dicts; "auto" takes what is installed, pandas
    first. `tables` names those to read: prompts and passages of a long run are large.

    `ValueError` says what is wrong with the folder.
    """
    if frames == "auto":
        frames = next((name for name in ("pandas", "polars") if importlib.util.find_spec(name)), None)
    if frames not in ("pandas", "polars", None):
        raise ValueError(f"`frames` is {frames!r}: expected 'auto', 'pandas', 'polars' or None")
    make = {"pandas": _pandas, "polars": _polars, None: _dicts}[frames]
    name, lacks, read = _native.columns(os.fspath(folder), [tables] if isinstance(tables, str) else list(tables))
    return Run(name, lacks, **{table: make(columns) for table, columns in read})


def _dicts(columns: _Columns) -> list[dict[str, Any]]:
    names = [name for name, _, _ in columns]
    return [dict(zip(names, row)) for row in zip(*(values for _, _, values in columns))]


def _pandas(columns: _Columns) -> Any:
    import pandas

    types = {"text": "str", "number": "float64", "integer": "Int64", "truth": "boolean"}
    series = {name: pandas.Series(values, dtype=types[kind]) for name, kind, values in columns}
    return pandas.DataFrame(series)


def _polars(columns: _Columns) -> Any:
    import polars

    types = {"text": polars.String, "number": polars.Float64, "integer": polars.Int64, "truth": polars.Boolean}
    return polars.DataFrame([polars.Series(name, values, dtype=types[kind]) for name, kind, values in columns])
