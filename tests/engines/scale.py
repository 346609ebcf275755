"""Runs in 10, 100 and 1,000 parts against a server that answers at once: what a part reads, and what it takes to join the parts.

    python3 tests/engines/scale.py BINARY [PARTS ...]

Fails if joining takes more than 60 seconds or 500 MB, or three times as long a part with ten times as many of them.
"""

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from desk import check
from server import Server

QUESTIONS, METHODS = 2, "closed-book,full-document"
BOOK_BYTES = 4_000
AT_ONCE = 8
MOST_SECONDS, MOST_MEGABYTES, MOST_GROWTH = 60, 500, 3
# A merge that is shorter is mostly the start of the program.
LEAST_SECONDS = 0.2
WORDS = "the bell of a tower rings at night when nobody is near and the keeper sleeps in his chair by the river".split()


def serve(pipe):
    """A server in a process of its own, whose memory and turns are not the caller's."""
    server = Server()
    pipe.send(server.url)
    pipe.recv()
    pipe.send(server.asked)


def make(folder, n_books):
    folder.mkdir()
    draw = random.Random(1)
    with open(folder / "documents.jsonl", "w") as documents, open(folder / "items.jsonl", "w") as items:
        for book in range(n_books):
            text = f"This is book {book}."
            while len(text) < BOOK_BYTES:
                text += " " + " ".join(draw.choices(WORDS, k=12)).capitalize() + "."
            documents.write(json.dumps({"id": f"b{book}", "title": f"Book {book}", "language": "en", "text": text}) + "\n")
            for number in range(QUESTIONS):
                items.write(json.dumps({
                    "id": f"q{book}-{number}", "documents": [f"b{book}"], "task": "choice", "correct": number,
                    "question": "Who rings the bell?", "options": ["Agnes", "Dorcas", "Wilf", "nobody"],
                }) + "\n")


def measured(command, folder):
    """Runs a command to its end; gives seconds, bytes read, and what it printed."""
    began = time.monotonic()
    # The shell's counters have those of what it has waited for.
    script = '"$@"; code=$?; grep -E "^rchar" /proc/$$/io >&2; exit $code'
    child = subprocess.Popen(
        ["bash", "-c", script, "bash", *map(str, command)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "CLOSEREAD_CACHE": str(folder / "cache")},
    )
    said, errors = child.communicate()
    check(child.returncode == 0, f"{command}: {errors}")
    read = int(errors.rsplit("rchar:", 1)[1])
    return time.monotonic() - began, read, said


def peak(command, folder):
    """Most memory of a command in MB, in a process that has none of ours."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n" \
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    said = subprocess.run(
        [sys.executable, "-c", script, *map(str, command)], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "CLOSEREAD_CACHE": str(folder / "cache")},
    )
    return int(said.stdout) * 1024 / 1e6


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def scale(binary, url, parts):
    with tempfile.TemporaryDirectory(prefix="closeread-scale-") as folder:
        folder = pathlib.Path(folder)
        make(folder / "bench", parts)
        run = [
            binary, "run", "--quiet", "--benchmark", "bench", "--method", METHODS, "--model", "openai-compatible/steady",
            "--base-url", url, "--repeats", "1", "--no-cache", "--context-window", "8000",
        ]
        began = time.monotonic()
        def run_part(part):
            return measured([*run, "--shard", f"{part + 1}/{parts}", "--out", f"spread/parts/{part}"], folder)[1]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            read = list(pool.map(run_part, range(parts)))
        running = time.monotonic() - began
        folders = [f"spread/parts/{part}" for part in range(parts)]
        merge = [binary, "merge", "--quiet", "--json", *folders, "--fresh", "--out", "whole"]
        merging, _, said = measured(merge, folder)
        check(json.loads(said)["records"] == parts * QUESTIONS * 2, said)
        status, _, said = measured([binary, "status", "spread", "--json"], folder)
        check(all(part["state"] == "finished" for part in json.loads(said)), said)
        memory = peak(merge, folder)
        manifests = sum((folder / part / "manifest.json").stat().st_size for part in folders) / 1e6
        print(
            f"{parts:>5} {running:>7.1f} {running / parts:>9.3f} {max(read) / 1e6:>14.2f} {size(folder / 'bench'):>9.2f} "
            f"{merging:>8.2f} {memory:>9.0f} {status:>9.2f} {size(folder / 'spread'):>10.1f} {manifests:>10.1f}",
            flush=True,
        )
        check(merging <= MOST_SECONDS and memory <= MOST_MEGABYTES, f"merge: {merging:.1f} s, {memory:.0f} MB")
        return max(merging, LEAST_SECONDS) / parts


def main(binary, *numbers):
    binary = pathlib.Path(binary).resolve(strict=True)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url, before, asked = ours.recv(), None, 0
    print("parts  runs s  a part s  MB a part read  benchmark  merge s  merge MB  status s  parts' MB  manifests")
    for parts in [int(number) for number in numbers] or [10, 100, 1_000]:
        a_part = scale(binary, url, parts)
        check(before is None or a_part <= MOST_GROWTH * before, f"a part takes {a_part / (before or 1):.1f} times as long to join")
        before, asked = a_part, asked + parts * QUESTIONS * 2
    ours.send("end")
    check(ours.recv() == asked, "each question was asked once by each method")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
