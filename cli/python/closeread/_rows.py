"""Converts paths, rows and data frames for the native half."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

Path = Union[str, "os.PathLike[str]"]
# A path, rows as dicts, or a data frame of pandas or polars.
Rows = Union[Path, Iterable[Mapping[str, Any]], Any]
Source = Union[str, "tuple[str, bytes]"]


def source(value: Rows, name: str) -> Source:
    """Returns a path unchanged, and rows as JSON Lines that messages call `name`."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    lines = []
    for n, row in enumerate(_dicts(value, name), 1):
        if not isinstance(row, Mapping):
            raise ValueError(f"{name}:{n}: {type(row).__name__}: expected a dict")
        try:
            lines.append(json.dumps(dict(row), ensure_ascii=False, allow_nan=False, default=_plain))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}:{n}: {error}: expected what JSON can hold") from None
    return name, "\n".join(lines).encode("utf-8", "surrogatepass")


def sources(value: Rows | Sequence[Path] | None, name: str) -> list[Source]:
    """Returns several paths, or one source as `source` does."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, (str, os.PathLike)) for one in value):
        return [os.fspath(one) for one in value]
    return [source(value, name)]


def names(value: str | Sequence[str] | None) -> list[str]:
    """Returns a list of one name, several, or none."""
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _dicts(value: Any, name: str) -> Iterable[Any]:
    if hasattr(value, "to_dicts"):  # polars
        return [_present(row) for row in value.to_dicts()]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # pandas
        return [_present(row) for row in value.to_dict(orient="records")]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise ValueError(f"{name} is {type(value).__name__}: expected a path, a list of dicts or a data frame")
    return value


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a row of a data frame. Empty cells become null; pandas turns integers beside empty cells into floats."""
    values = {}
    for column, value in row.items():
        value = _plain(value) if hasattr(value, "tolist") else value
        if value is None or value != value or type(value).__name__ == "NAType":
            value = None
        elif column in ("choice", "correct") and isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None or column in ("answer", "choice"):
            values[column] = value
    return values


def _plain(value: Any) -> Any:
    """Converts a value of numpy to one of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__}")
