"""Small real sets of the five papers' kinds, made from data that nobody on this project wrote (CLOSEREAD_DATA): sets.py DATA OUT.

FairytaleQA's tales stand for novels and for HAMLET's books, LooGLE's article for a book beyond the window, NoCha's claims for
InfiniteBench's questions on whole novels, L-Eval's QuALITY is itself, factbook profiles stand for CorpusQA's documents.
"""

import ast
import csv
import json
import random
import re
import sys
from pathlib import Path

DATA, OUT = Path(sys.argv[1]), Path(sys.argv[2])
SHORT = ["finn-the-giant-and-the-minister-of-lund", "why-dog-and-cat-are-enemies"]
TYPES = {"character": "Character", "setting": "Location", "action": "Event", "causal relationship": "Reason", "outcome resolution": "Event"}
ASPECTS = {"character": "character", "setting": "setting", "feeling": "meaning"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def lines(path, rows):
    write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def tale(name):
    """Title, sections by number, questions of a tale."""
    root = DATA / "qa/fairytaleqa"
    sections = {row["section"]: row["text"].strip() for row in table(root / f"section-stories/{name}-story.csv")}
    return name.replace("-", " ").title(), sections, table(root / f"questions/{name}-questions.csv")


def spread(rows, n):
    """n of the rows, evenly spaced."""
    return [rows[at * len(rows) // n] for at in range(n)]


def sagascale(out):
    documents, items = [], []
    for name in SHORT:
        title, sections, questions = tale(name)
        documents.append({"id": name, "title": title, "language": "en", "text": "\n\n".join(sections.values())})
        for row in spread(questions, 2):
            kind = TYPES.get(row["attribute1"], "Miscellaneous")
            items.append({"id": f"{name}/{row['question_id']}", "documents": [name], "question": row["question"], "task": "generative",
                          "answers": [row["answer1"]], "labels": {"question_type": kind}})
    article = json.loads((DATA / "qa/loogle-longdep-qa.jsonl").read_text(encoding="utf-8").splitlines()[0])
    documents.append({"id": "article", "title": article["title"], "language": "en", "text": article["input"]})
    pairs = ast.literal_eval(article["qa_pairs"]) if isinstance(article["qa_pairs"], str) else article["qa_pairs"]
    for at, pair in enumerate(pairs[:1]):
        items.append({"id": f"article/{at}", "documents": ["article"], "question": pair["Q"], "task": "generative",
                      "answers": [pair["A"]], "labels": {"question_type": "Miscellaneous"}})
    lines(out / "documents.jsonl", documents)
    lines(out / "items.jsonl", items)


def novelqa(out):
    documents, items = [], []
    for name in SHORT:
        title, sections, questions = tale(name)
        documents.append({"id": name, "title": title, "language": "en", "text": "\n\n".join(sections.values())})
        for row in spread(questions, 3):
            others = sorted({other["answer1"] for other in questions} - {row["answer1"]})
            options = random.Random(row["question"]).sample(others, 3) + [row["answer1"]]
            random.Random(row["answer1"]).shuffle(options)
            evidence = [{"quote": sections[number.strip()]} for number in row["cor_section"].split(",") if number.strip() in sections]
            complexity = "multi-hop" if row["local-or-sum"] == "summary" else "single-hop"
            items.append({"id": f"{name}/{row['question_id']}", "documents": [name], "question": row["question"], "task": "choice",
                          "answers": [row["answer1"]], "options": options, "correct": options.index(row["answer1"]), "evidence": evidence,
                          "labels": {"aspect": ASPECTS.get(row["attribute1"], "plot"), "complexity": complexity, "rights": "public-domain"}})
    lines(out / "documents.jsonl", documents)
    lines(out / "items.jsonl", items)


def infinitebench(out):
    novel = (DATA / "novels/en/anne-of-green-gables.nocha.txt").read_text(encoding="utf-8")
    claims = [claim for claim in json.loads((DATA / "qa/nocha-claims.json").read_text(encoding="utf-8")) if "anne" in claim["book_title"].lower()]
    rows = []
    for at, claim in enumerate(claims[:2]):
        right = "True" if str(claim["type"]).lower() == "true" else "False"
        question = f"Is this claim about the novel true? {claim['claim']}"
        rows.append({"id": at, "context": novel, "input": question, "options": ["True", "False", "Only of another character", "The novel does not say"],
                     "answer": [right]})
    lines(out / "longbook_choice_eng.jsonl", rows)


def quality(out):
    """L-Eval's rows of QuALITY in QuALITY's own layout, as its protocol asks for it."""
    row = json.loads((DATA / "qa/leval-quality.jsonl").read_text(encoding="utf-8").splitlines()[0])
    questions = []
    for at, (asked, gold) in enumerate(list(zip(row["instructions"], row["outputs"]))[:2]):
        question, *options = re.split(r"\n \([A-D]\) ", asked.split("\n\nAnswer")[0])
        questions.append({"question": question.strip(), "question_unique_id": f"q{at}", "options": [option.strip() for option in options],
                          "gold_label": "ABCD".index(gold[1]) + 1, "difficult": at % 2})
    lines(out / "quality.jsonl", [{"article_id": "leval-1", "source": "L-Eval", "title": "", "article": row["input"], "questions": questions}])


def narrativeqa(out):
    rows, about = [], []
    for name in SHORT:
        title, sections, questions = tale(name)
        write(out / f"{name}.content", "\n\n".join(sections.values()))
        about.append({"document_id": name, "set": "test", "kind": "gutenberg", "wiki_title": title})
        for row in spread(questions, 2):
            rows.append({"document_id": name, "set": "test", "question": row["question"], "answer1": row["answer1"], "answer2": row["answer4"]})
    for file, some in (("qaps.csv", rows), ("documents.csv", about)):
        with open(out / file, "w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, fieldnames=list(some[0]))
            writer.writeheader()
            writer.writerows(some)


def first_number(text):
    return re.search(r"-?[\d,]+(?:\.\d+)?", text).group().replace(",", "")


def corpusqa(out):
    head = ["Country", "Population", "Total area (sq km)", "Median age (years)", "Life expectancy (years)", "document"]
    rows = []
    for code in ("ke", "gh", "za", "ml", "rw"):
        facts = json.loads((DATA / f"corpora/factbook-africa/{code}.json").read_text(encoding="utf-8"))
        people, land = facts["People and Society"], facts["Geography"]
        name = facts["Government"]["Country name"]["conventional short form"]["text"]
        area = {key.strip(): value for key, value in land["Area"].items()}["total"]["text"]
        values = [people["Population"]["total"]["text"], area, people["Median age"]["total"]["text"],
                  people["Life expectancy at birth"]["total population"]["text"]]
        shown = [f"- {title}: {value}" for title, value in zip(("Population", "Total area", "Median age", "Life expectancy at birth"), values)]
        rest = [f"- {key}: {value['text']}" for key, value in land.items() if "text" in value][:6]
        text = f"# {name}\n\n" + "\n".join(shown[:2] + rest[:3] + shown[2:] + rest[3:]) + "\n"
        write(out / f"profiles/{code}.md", re.sub(r"<[^>]+>", " ", text))
        rows.append([name] + [first_number(value) for value in values] + [code])
    with open(out / "table.csv", "w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([head] + rows)


def hamlet(out):
    for name in SHORT[:1]:
        title, sections, _ = tale(name)
        write(out / f"{name}.txt", f"{title}\n\n" + "\n\n".join(sections.values()) + "\n")


for make in (sagascale, novelqa, infinitebench, quality, narrativeqa, corpusqa, hamlet):
    folder = OUT / make.__name__
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    print(folder)
