"""The most memory that runs take, beside what `closeread submit` asks for: Linux, because it reads /proc.

    python3 tests/engines/memory.py BINARY [NAME ...]      # NAME: a word of the cases to run; without, all are run

Fails if a run takes more than `submit` would ask for.
"""

import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from desk import check
from scale import serve

MILLION = 1_000_000
WORDS = (pathlib.Path(__file__).parents[2] / "sample/the-loan-of-the-bell.txt").read_text().split()
SEARCH = ["--method", "dos-rag", "--budget", "5000"]
BY_WORDS = [*SEARCH, "--retriever", "bm25"]
FULL = ["--method", "full-document"]
# Name, bytes of each book, number of books, questions a book, texts in files of their own, a server answers, options.
CASES = [
    ("no text, a server", 4_000, 1, 2, True, True, ["--method", "closed-book"]),
    ("a short text by vectors, the built-in reader", 4_000, 1, 2, True, False, ["--method", "dos-rag", "--budget", "500"]),
    ("1 MB whole, a server", MILLION, 1, 8, True, True, FULL),
    ("4 MB whole, a server", 4 * MILLION, 1, 8, True, True, FULL),
    ("16 MB whole, a server", 16 * MILLION, 1, 2, True, True, FULL),
    ("1 MB whole, the built-in reader", MILLION, 1, 8, True, False, FULL),
    ("4 MB whole, the built-in reader", 4 * MILLION, 1, 8, True, False, FULL),
    ("1 MB by BM25, a server", MILLION, 1, 8, True, True, BY_WORDS),
    ("4 MB by BM25, a server", 4 * MILLION, 1, 8, True, True, BY_WORDS),
    ("16 MB by BM25, a server", 16 * MILLION, 1, 2, True, True, BY_WORDS),
    ("1 MB by vectors, a server", MILLION, 1, 8, True, True, SEARCH),
    ("4 MB by vectors, a server", 4 * MILLION, 1, 8, True, True, SEARCH),
    ("400 trials by BM25", 100_000, 8, 50, True, True, BY_WORDS),
    ("4,000 trials by BM25", 100_000, 8, 500, True, True, BY_WORDS),
    ("8 MB in 16 files", MILLION // 2, 16, 1, True, True, ["--method", "closed-book"]),
    ("8 MB inside documents.jsonl", MILLION // 2, 16, 1, False, True, ["--method", "closed-book"]),
    ("32 MB in 64 files", MILLION // 2, 64, 1, True, True, ["--method", "closed-book"]),
    ("32 MB inside documents.jsonl", MILLION // 2, 64, 1, False, True, ["--method", "closed-book"]),
]


def text(n_bytes, seed):
    """Sentences and paragraphs of a story's words."""
    draw, sentences, size = random.Random(seed), [], 0
    while size < n_bytes:
        end = "\n\n" if len(sentences) % 6 == 5 else " "
        sentences.append(" ".join(draw.choices(WORDS, k=draw.randint(6, 20))).capitalize() + "." + end)
        size += len(sentences[-1])
    return "".join(sentences)


def make(folder, n_bytes, n_books, n_questions, in_files):
    folder.mkdir()
    with open(folder / "documents.jsonl", "w") as documents, open(folder / "items.jsonl", "w") as items:
        for book in range(n_books):
            row = {"id": f"b{book}", "title": f"Book {book}", "language": "en"}
            if in_files:
                (folder / f"b{book}.txt").write_text(text(n_bytes, book))
                row["path"] = f"b{book}.txt"
            else:
                row["text"] = text(n_bytes, book)
            documents.write(json.dumps(row) + "\n")
            for number in range(n_questions):
                items.write(json.dumps({
                    "id": f"q{book}-{number}", "documents": [f"b{book}"], "task": "choice", "correct": number % 4,
                    "question": f"Who rings the bell number {number}?", "options": ["Agnes", "Dorcas", "Wilf", "nobody"],
                }) + "\n")


def most(command, environment):
    """Runs it; gives the most memory it had, as the kernel says of the process itself: a child's also has what its parent had."""
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = 0
    while child.poll() is None:
        try:
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{child.pid}/status").read_text())
            peak = int(found[1]) if found else peak
        except OSError:
            pass
        time.sleep(0.02)
    check(child.returncode == 0, child.stderr.read().decode())
    return peak / 1024


def main(binary, *names):
    binary = pathlib.Path(binary).resolve(strict=True)
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
    server = [
        "--model", "openai-compatible/steady", "--base-url", ours.recv(), "--context-window", "8000000", "--concurrency", "64",
    ]
    print("took MiB  asked for MiB")
    for name, n_bytes, n_books, n_questions, in_files, is_served, options in CASES:
        if names and not any(word in name for word in names):
            continue
        with tempfile.TemporaryDirectory(prefix="closeread-memory-") as folder:
            folder = pathlib.Path(folder)
            make(folder / "bench", n_bytes, n_books, n_questions, in_files)
            options = [*options, *(server if is_served else []), "--repeats", "1", "--no-cache", "--benchmark", folder / "bench"]
            environment = {**os.environ, "CLOSEREAD_CACHE": str(folder / "cache")}
            took = most([binary, "run", *options, "--out", folder / "run"], environment)
            submit = [binary, "submit", "slurm", "--parts", "1", "--out", folder / "spread", "--dry-run", "--", *options]
            script = subprocess.run(submit, env=environment, check=True, capture_output=True, text=True).stdout
            asked = int(re.search(r"--mem=(\d+)M", script)[1])
            print(f"{took:8.0f} {asked:14}  {name}", flush=True)
            check(took <= asked, f"{name}: {took:.0f} MiB, and {asked} are asked for")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
