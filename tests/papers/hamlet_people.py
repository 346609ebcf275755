#!/usr/bin/env python3
"""HAMLET's Tables 2, 3 and 9 from what people and judges said, held against tables cell by cell.

    hamlet_people.py TABLES.json 2 EXPERTS.csv FILTER.csv
    hamlet_people.py TABLES.json 3 STUDY RUN ANSWERS.json...
    hamlet_people.py TABLES.json 9 BUILD

TABLES.json is what `closeread agreement`, `closeread people read` or `closeread build hamlet --study chunk-size` prints with
--json. Table 2: of each label of the filter, the share that most experts give as well, by criterion. Table 3: the share of facts
and sentences of which a judge says what most people say; a second panel of the run verifies against the whole book. Table 9:
the scores that judges wrote, means of a chunk's judges, then of the chunks of a size. Exit code 1 if a cell differs.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from records import check, lines, mean

CRITERIA = ["faithfulness", "objectivity", "significance"]
SCORES = ["HKF_validity", "Content_coherence", "Cross_content_reasoning"]


def most(labels):
    """The label of more than half of them."""
    return next((label for label, n in Counter(labels).items() if 2 * n > len(labels)), None)


def table_2(experts, labels):
    read = lambda path: list(csv.DictReader(Path(path).open(encoding="utf-8")))
    said = {}
    for row in read(experts):
        said.setdefault((row["criterion"], row["unit"]), []).append(row["label"])
    rows = []
    for label in ["PASS", "FAIL"]:
        counts = {name: [most(said[name, row["unit"]]) for row in read(labels) if (row["criterion"], row["label"]) == (name, label)]
                  for name in CRITERIA}
        shares = []
        for name in CRITERIA:
            decided = [own for own in counts[name] if own]
            shares.append(sum(own == label for own in decided) / len(decided) if decided else None)
        rows.append([*shares, mean(shares), sum(own is None for name in CRITERIA for own in counts[name])])
    return {"borne-out": rows}


def of_judge(ruling, key):
    """What a judge says of a fact, that the summary states it, or of a sentence, that nothing is wrong with it."""
    if key["asks"] == "key-fact":
        fact = ruling["facts"][key["part"] - 1]
        return "yes" if fact and fact["stated"] else "no"
    sentence = ruling["sentences"][key["part"] - 1]
    return sentence and ("yes" if sentence["category"].lower().startswith(("no", "faithful")) else "no")


def table_3(study, run, *answers):
    people = [json.loads(Path(path).read_text(encoding="utf-8"))["answers"] for path in answers]
    rulings = [one for one in lines(Path(run) / "judgements.jsonl") if one["state"] == "ruled"]
    keys = lines(Path(study) / "keys.jsonl")
    rows = []
    # A judge was set up anew for the second panel.
    setups = lambda judge: list(dict.fromkeys(one["setup"] for one in rulings if one["judge"] == judge))
    for panel in range(2):
        row = []
        for asks, judge in [("key-fact", "align-key-facts"), ("sentence", "verify-facts")]:
            said = {one["item"]: one["ruling"] for one in rulings
                    if one["judge"] == judge and one["setup"] in setups(judge)[panel:panel + 1]}
            own = [key for key in keys if key["asks"] == asks and key["item"] in said]
            pairs = [(most([answer[key["unit"]]["label"] for answer in people]), of_judge(said[key["item"]], key)) for key in own]
            pairs = [pair for pair in pairs if None not in pair]
            row.append(sum(a == b for a, b in pairs) / len(pairs) if pairs else None)
        rows.append(row)
    return {"accuracy-by-task": rows}


def table_9(build):
    sizes = {}
    for line in lines(Path(build) / "stages" / "1-chunk-size.jsonl"):
        size, rest = line["id"].split("/", 1)
        chunk, _ = rest.rsplit("/judge-", 1)
        scores = sizes.setdefault(int(size), {}).setdefault(chunk, [])
        if line["state"] == "kept":
            written = json.loads(line["calls"][-1]["response"])
            scores.append([written[name] for name in SCORES])
    rows = []
    for _, chunks in sorted(sizes.items()):
        of_chunks = [[mean(column) for column in zip(*scores)] for scores in chunks.values() if scores]
        rows.append([*(mean(column) for column in zip(*of_chunks)), len(chunks)])
    return {"chunk-size": rows}


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    made = {"2": table_2, "3": table_3, "9": table_9}[sys.argv[2]]
    check(sys.argv[1], [], made(*sys.argv[3:]), [])
