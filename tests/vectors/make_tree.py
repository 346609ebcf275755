"""Cases of retrieval.json about RAPTOR's tree: traversal, joined texts, and the mixture that clusters a layer.

RAPTOR is not on PyPI: traversal and joining are restated here from their description (methods.md's and the paper's) and
held to cases that RAPTOR's own code made by `check_tree`. The mixture is scikit-learn's.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture


def cases():
    dice = np.random.default_rng(20261122)
    return traversals(dice) + joins() + mixtures(dice)


def sklearn_version():
    return f"{sklearn.__version__}; GaussianMixture(covariance_type='full')"


# --- traversal


def traversals(dice):
    shapes = [  # id, leaves, parents a layer, members of a parent, overlapping, layers visited, top_k
        ("top-1-of-each", 20, [6, 3], 4, False, 3, 1),
        ("soft-parents", 24, [8, 4], 6, True, 3, 2),
        ("wider-than-a-layer", 10, [4, 2], 4, True, 3, 50),
        ("roots-only", 12, [4], 3, False, 1, 2),
        ("only-leaves", 7, [], 0, False, 1, 3),
    ]
    found = []
    for name, n_leaves, parents, members, overlap, layers, top_k in shapes:
        nodes = [{"index": i, "children": []} for i in range(n_leaves)]
        below = list(range(n_leaves))
        for n_parents in parents:
            layer = list(range(len(nodes), len(nodes) + n_parents))
            for place, index in enumerate(layer):
                step = max(1, len(below) // n_parents)
                first = place * step
                size = members + 2 if overlap else step
                children = sorted({below[(first + k) % len(below)] for k in range(size)})
                nodes.append({"index": index, "children": children})
            below = layer
        for node in nodes:
            node["embedding"] = [round(float(x), 4) for x in dice.normal(size=6)]
        query = [round(float(x), 4) for x in dice.normal(size=6)]
        case = {"id": f"traversal-{name}", "group": "tree_traversal", "query": query, "nodes": nodes,
                "start_nodes": below, "layers": layers, "top_k": top_k}
        found.append(case | {"expected": {"selected_per_visit_order": traverse(case)}})
    return found


def traverse(case):
    """Of each layer the nearest top_k; then their children, each once."""
    embeddings = np.array([node["embedding"] for node in case["nodes"]])
    query = np.array(case["query"])
    distance = 1 - embeddings @ query / (np.linalg.norm(embeddings, axis=1) * np.linalg.norm(query))
    layer, visited = case["start_nodes"], []
    for _ in range(case["layers"]):
        best = sorted(layer, key=lambda node: distance[node])[:case["top_k"]]
        visited += best
        layer = list(dict.fromkeys(child for node in best for child in case["nodes"][node]["children"]))
    return visited


# --- texts of nodes


def joins():
    inputs = [
        ("lines-of-every-kind", ["one\r\ntwo\rthree\u2028four", "five\x0bsix\x1cseven"]),
        ("blank-lines-stay-blanks", ["The bell rang.\n\nNobody came.", ""]),
        ("spaces-stay", ["  indented\n  twice  "]),
        ("chinese", ["钟响了。\n没有人来。", "河水涨了。"]),
        ("nothing", []),
    ]
    return [{"id": f"join-{name}", "group": "node_text_join", "input": texts, "expected": join(texts)}
            for name, texts in inputs]


def join(texts):
    return "".join(f"{' '.join(text.splitlines())}\n\n" for text in texts)


# --- the mixture


def mixtures(dice):
    shapes = [  # id, points of each group, dimension, distance of the groups, components, threshold
        ("one-group", [50], 3, 0, 1, 0.1),
        ("apart", [30, 30, 30], 2, 9, 3, 0.1),
        ("touching", [40, 40], 2, 2, 2, 0.1),
        ("touching-strict", [40, 40], 2, 2, 2, 0.45),
        ("ten-dimensions", [60, 50, 40, 30], 10, 4, 4, 0.1),
        ("more-components-than-groups", [25, 25], 2, 6, 5, 0.1),
        ("unequal", [90, 6], 4, 5, 2, 0.1),
        ("line", [20, 20], 1, 5, 2, 0.1),
    ]
    found = []
    for name, sizes, dimension, distance, k, threshold in shapes:
        groups = [dice.normal(size=(size, dimension)) + dice.normal(size=dimension) * distance for size in sizes]
        points = np.round(np.concatenate(groups), 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = GaussianMixture(n_components=k, random_state=0).fit(points)
        posteriors = fitted.predict_proba(points)
        margin = float(np.min(np.abs(posteriors - threshold)))
        assert margin > 1e-6, f"{name}: a posterior lies on the threshold"
        found.append({
            "id": f"mixture-{name}", "group": "gaussian_mixture", "points": points.tolist(),
            "weights": fitted.weights_.tolist(), "means": fitted.means_.tolist(),
            "covariances": fitted.covariances_.tolist(), "threshold": threshold,
            "expected": {
                "mean_log_likelihood": float(fitted.score(points)),
                "bic": float(fitted.bic(points)),
                "free_parameters": int(fitted._n_parameters()),
                "first_responsibilities": posteriors[:6].tolist(),
                "assignments_above_threshold": [np.where(row > threshold)[0].tolist() for row in posteriors],
            },
        })
    return found


def check_tree(path):
    """Holds `traverse` and `join` to cases that RAPTOR's own code made, so that ours may stand for it."""
    wrong = total = 0
    for case in json.loads(Path(path).read_text(encoding="utf-8"))["cases"]:
        if case["group"] == "tree_traversal":
            same = traverse(case) == case["expected"]["selected_per_visit_order"]
        elif case["group"] == "node_text_join":
            same = join(case["input"]) == case["expected"]
        else:
            continue
        total, wrong = total + 1, wrong + (not same)
        print(f"{case['id']}: {'agrees' if same else 'differs'}")
    print(f"{total - wrong} of {total} cases agree")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    check_tree(sys.argv[1])
