"""Makes a benchmark of the sample's first chapter: a book that fits a window of 8,192 tokens.

    python3 opening.py SAMPLE OUT
"""

import json
import pathlib
import sys

SAMPLE, OUT = map(pathlib.Path, sys.argv[1:])
BOOK = "the-loan-of-the-bell"
QUESTIONS = ["en-002", "en-020", "en-026", "en-059"]
QUESTION = "What happens to Agnes Tull from the moment Mr Pym gives her the Scarrow errand until the bell sounds on the first night?"
LAST = "as people are in front of a thing that has never happened before."

chapter = (SAMPLE / f"{BOOK}.txt").read_text().split("Chapter Two:")[0].rstrip()


def lines(name):
    return [json.loads(line) for line in (SAMPLE / name).read_text().splitlines()]


items = {item["id"]: item for item in lines("items.jsonl") if item["id"] in QUESTIONS}
for item in items.values():
    assert all(evidence["quote"] in chapter for evidence in item["evidence"]), item["id"]
summary = lines("key_facts.jsonl")[0]
summary["question"] = QUESTION
summary["key_facts"]["last"] = LAST
assert LAST in chapter
# The fourth branch is the next morning's.
summary["key_facts"]["roots"][0]["children"] = summary["key_facts"]["roots"][0]["children"][:3]

OUT.mkdir(parents=True, exist_ok=True)
(OUT / f"{BOOK}.txt").write_text(chapter + "\n")
book = {"id": BOOK, "title": "The Loan of the Bell, chapter one", "language": "en", "path": f"{BOOK}.txt"}
(OUT / "documents.jsonl").write_text(json.dumps(book) + "\n")
asked = [items[name] for name in QUESTIONS] + [summary]
(OUT / "items.jsonl").write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in asked))
