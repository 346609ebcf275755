"""Predictions of any program, scored by closeread, with intervals. Needs the Python module closeread; no model, no network."""

import closeread

ITEMS = [
    {"id": "1", "documents": ["b"], "question": "Who lit the lamp?", "task": "generative", "answers": ["Ana"]},
    {"id": "2", "documents": ["b"], "question": "Where were the boats?", "task": "generative", "answers": ["in the harbour"]},
]
PREDICTIONS = [{"item": "1", "answer": "Ana"}, {"item": "2", "answer": "at sea"}]

card = closeread.score(ITEMS, PREDICTIONS, metrics=["f1", "exact_match"])
for metric, score in card["metrics"].items():
    print(f"{metric}: {score['value']:.2f} [{score['low']:.2f}, {score['high']:.2f}] over {score['n']} items")
assert card["metrics"]["exact_match"]["value"] == 0.5

other = closeread.score(ITEMS, [{"item": "1", "answer": "Ana"}, {"item": "2", "answer": "in the harbour"}])
print(closeread.compare(card, other, metrics="f1")["comparisons"][0]["conclusion"])
