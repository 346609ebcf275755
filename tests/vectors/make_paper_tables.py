"""Figures that follow from tables, over tables that we made up: `xtask/audit/paper_tables.json`.

Every `recomputed` is numpy's or scipy's; `paper_value` is what such a paper might print, sometimes wrongly on purpose.
"""

import numpy as np
import scipy
from scipy.stats import spearmanr

COUNTS = [[12.0, 3.0, 40.0], [0.0, 25.0, 10.0], [7.0, 0.0, 5.0]]
CELLS = [[51.5, 20.0, 33.25], [0.0, 61.0, 44.5], [12.5, 0.0, 70.0]]


def files():
    """The one file, by name."""
    return {"../../xtask/audit/paper_tables.json": {
        "schema": "paper_tables/1",
        "generated_with": {"numpy": np.__version__, "scipy": scipy.__version__},
        "cases": [case(f"own-{n:02}", *made) for n, made in enumerate(cases(), 1)],
    }}


def case(name, quantity, inputs, rule, paper_value, recomputed, tolerance, variants=None):
    agrees = bool(np.all(np.abs(flat(paper_value) - flat(recomputed)) <= tolerance + 1e-12))
    made = {"id": name, "group": "made up", "table": "Table 0", "quantity": quantity, "inputs": inputs, "rule": rule,
            "paper_value": paper_value, "recomputed": recomputed, "tolerance": tolerance, "agrees": agrees}
    return made | ({"variants": variants} if variants else {})


def flat(value):
    if isinstance(value, dict):
        return np.concatenate([flat(part) for part in value.values()])
    if isinstance(value, list) and value and isinstance(value[0], list):
        return np.concatenate([flat(part) for part in value])
    return np.atleast_1d(np.asarray(value, dtype=float))


def cases():
    accuracy = [31.5, 62.25, 44.0, 58.5, 12.75]
    error = [40.0, 21.5, 33.0, 33.0, 71.0]
    mean = float(np.mean(accuracy))
    yield "average accuracy over 5 systems", {"accuracy": accuracy}, {"mean": "all"}, 41.8, mean, 0.05
    yield "average accuracy over 5 systems, misprinted", {"accuracy": accuracy}, {"mean": "all"}, 42.8, mean, 0.05
    rho = float(spearmanr(error, accuracy).statistic)
    yield ("rank correlation of calibration error rate with accuracy",
           {"nr_calibration_error_rate": error, "accuracy": accuracy}, "rank_correlation", 0.9, -rho, 0.1)
    a, e, n = 0.15, 0.2, 5
    steps = {"finite": float(sum((1 - a - e) ** i * a for i in range(n + 1))), "limit": a / (a + e)}
    yield ("agentic accuracy with constant step probabilities", {"a": a, "e": e, "max_retrievals": n},
           "theory_curve",
           dict(steps), steps, 1e-9)
    table = {"Plot": [12, 3, 40], "Span": [0, 25, 10], "Times": [7, 0, 5]}
    yield "row sums", table, {"sum": "each_row"}, [55, 35, 12], [sum(row) for row in table.values()], 0
    counts, cells = np.array(COUNTS), np.array(CELLS)
    weighted = {"rows": (counts * cells).sum(1) / counts.sum(1), "columns": (counts * cells).sum(0) / counts.sum(0),
                "overall": (counts * cells).sum() / counts.sum()}
    weighted = {name: value.tolist() for name, value in weighted.items()}
    printed = {name: np.round(value, 2).tolist() for name, value in weighted.items()}
    yield ("averages over aspects, over complexity and overall",
           {"order": ["Plot", "Span", "Times"], "counts_mh_sh_dtl": COUNTS, "accuracy_mh_sh_dtl": CELLS},
           "count_weighted", printed, weighted, 1.0)
    marks = [[10.0, 20.0, 33.0], [1.5, 2.5, 2.0]]
    yield ("average of correctness, relevance, sufficiency", marks, {"mean": "each_row"}, [21.0, 2.0],
           [float(np.mean(row)) for row in marks], 0.005)
    bins = [[0.9, 0.4, 0.2, 0.3], [0.7, 0.5, 0.1, 0.35], [0.85, 0.45, 0.3, 0.2], [0.8, 0.5, 0.2, 0.3], [0.75, 0.6, 0.2, 0.4]]
    gap = (np.max(bins, axis=0) - np.min(bins, axis=0)).tolist()
    yield ("recall gap at root, branch, leaf, all", {"recall_by_position_root_branch_leaf_all": bins},
           "gap", [0.2, 0.2, 0.2, 0.2], gap, 0.0101)
    yield ("recall at root, branch, leaf, all", {"recall_by_position_root_branch_leaf_all": bins},
           {"mean": "each_column"}, [0.8, 0.49, 0.2, 0.31], np.mean(bins, axis=0).tolist(), 0.0101)
    tokens = [4001, 8000, 91234]
    yield "chunks per book", {"tokens": tokens}, {"ceil_division": {"size": 4000.0}}, [2, 2, 23], [2, 2, 23], 0
    yield ("overall accuracy", {"domains": ["financial_zh", "financial_en", "education_en", "real_estate_en"],
                                "accuracy": [50.0, 25.0, 12.5, 80.0], "full_denominators": [83, 83, 82, 81]},
           {"mean": "all"}, 41.88, float(np.mean([50.0, 25.0, 12.5, 80.0])), 0.0101)
    yield ("accuracies as twelfths (12 questions per scale)", {"accuracy": [8.3, 40.0]}, {"nearest_fraction": {"n": 12.0}}, [8.3, 40.0],
           [8.3, 41.7], 0.05)
    shares = (100 * np.array([30, 10, 60]) / 100).tolist()
    yield "shares", {"counts": [30, 10, 60]}, {"share": {"total": 100.0}}, [30.0, 10.0, 60.0], shares, 0.005
