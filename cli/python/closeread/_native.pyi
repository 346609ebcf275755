from collections.abc import Mapping
from typing import Any

from ._rows import Source

VERSION: str

def score(gold: Source, predictions: Source, scoring: Mapping[str, Any]) -> str: ...
def score_format(
    name: str,
    gold: list[Source],
    predictions: list[Source],
    scoring: Mapping[str, Any],
    task: str | None,
    system: str | None,
) -> str: ...
def compare(a: Source, b: Source | None, chosen: Mapping[str, Any], gold: str | None) -> str: ...
def columns(
    folder: str, wanted: list[str]
) -> tuple[str, list[str], list[tuple[str, list[tuple[str, str, list[Any]]]]]]: ...
