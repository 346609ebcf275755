"""Predictions of any program, scored by closeread, with intervals. Needs closeread on the path; no model, no network."""

import json
import subprocess
import tempfile
from pathlib import Path

ITEMS = [
    {"id": "1", "documents": ["b"], "question": "Who lit the lamp?", "task": "generative", "answers": ["Ana"]},
    {"id": "2", "documents": ["b"], "question": "Where were the boats?", "task": "generative", "answers": ["in the harbour"]},
]
PREDICTIONS = [{"item": "1", "answer": "Ana"}, {"item": "2", "answer": "at sea"}]

with tempfile.TemporaryDirectory() as folder:
    gold, predictions = Path(folder, "items.jsonl"), Path(folder, "predictions.jsonl")
    gold.write_text("\n".join(map(json.dumps, ITEMS)))
    predictions.write_text("\n".join(map(json.dumps, PREDICTIONS)))
    command = ["closeread", "score", "--gold", gold, "--predictions", predictions, "--metric", "f1,exact_match", "--json"]
    card = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

for metric, score in card["metrics"].items():
    print(f"{metric}: {score['value']:.2f} [{score['low']:.2f}, {score['high']:.2f}] over {score['n']} items")
assert card["metrics"]["exact_match"]["value"] == 0.5
