"""Scores one answer of another tool's sample."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ._score import ScoredItem, score

_LETTER = re.compile(r"\(?([A-Z])[).:]?")


def one(
    question: str,
    targets: Sequence[str],
    answer: str | None,
    metrics: Sequence[str] | None,
    chinese: str,
    options: Sequence[str] = (),
    choice: int | None = None,
) -> ScoredItem:
    """Scores an answer. With options, the target is the letter or the text of one of them."""
    item: dict[str, object] = {"id": "sample", "documents": ["sample"], "question": question or "?"}
    if options:
        if len(targets) != 1:
            raise ValueError(f"the sample has {len(targets)} targets: expected one, since one option of a choice is right")
        item.update(task="choice", options=list(options), correct=_place(targets[0], options))
        prediction: dict[str, object] = {"item": "sample", "answer": answer, "choice": choice}
    else:
        item.update(task="generative", answers=list(targets))
        prediction = {"item": "sample", "answer": answer}
    card = score([item], [prediction], metrics, chinese=chinese)  # type: ignore[arg-type]
    for metric in metrics or ():
        if metric not in card["metrics"]:
            raise ValueError(next((note for note in card["notes"] if note.startswith(metric)), f"{metric} is not available"))
    return card["items"][0]


def _place(target: str, options: Sequence[str]) -> int:
    letter = _LETTER.fullmatch(target.strip())
    place = ord(letter.group(1)) - ord("A") if letter else len(options)
    # A letter alone names a place, as inspect_ai has it, whatever the options say.
    if target in options and not (target.strip().isalpha() and place < len(options)):
        return list(options).index(target)
    if place >= len(options):
        raise ValueError(f"the target {target!r} is none of the {len(options)} options: expected its text or its letter")
    return place
