"""closeread's scores, comparisons and run folders, with the numbers of its command line.

`score` and `compare` give what `closeread score --json` and `closeread compare --json` print, as dicts; `load_run` gives a run
folder as data frames. All of them raise `ValueError` for what they cannot use, and let other threads run while they work.
"""

from __future__ import annotations

from ._compare import Comparison, ComparisonSide, Comparisons, Flip, LabelComparison, Overall, Unpaired, compare
from ._native import VERSION as __version__
from ._run import Run, load_run
from ._score import Estimate, Group, PolicyScores, Problem, Problems, Scorecard, ScoredItem, score

__all__ = [
    "Comparison",
    "ComparisonSide",
    "Comparisons",
    "Estimate",
    "Flip",
    "Group",
    "LabelComparison",
    "Overall",
    "PolicyScores",
    "Problem",
    "Problems",
    "Run",
    "Scorecard",
    "ScoredItem",
    "Unpaired",
    "__version__",
    "compare",
    "load_run",
    "score",
]
