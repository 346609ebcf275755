"""Runs in 10, 100 and 1,000 parts against a server that answers at once: what a part reads, and what it takes to join the parts.

    python3 tests/engines/scale.py BINARY [PARTS ...]
    python3 tests/engines/scale.py BINARY books      # one part of 1,000, with books of 4 KB, 40 KB and 400 KB

An estimate goes before, as with `closeread submit`. Fails if joining takes more than 60 seconds or 500 MB, or three times as long a part
with ten times as many of them; and if a part reads more of other books than their lines in the catalog and their questions.
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
BOOKS = (4_000, 40_000, 400_000)
# What every start reads: the program itself, its libraries, and files of the system.
START_BYTES = 800_000
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


def make(folder, n_books, book_bytes=BOOK_BYTES):
    folder.mkdir()
    draw = random.Random(1)
    with open(folder / "documents.jsonl", "w") as documents, open(folder / "items.jsonl", "w") as items:
        for book in range(n_books):
            text = f"This is book {book}."
            while len(text) < book_bytes:
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


def run_of(binary, url):
    return [
        binary, "run", "--quiet", "--benchmark", "bench", "--method", METHODS, "--model", "openai-compatible/steady", "--base-url", url,
        "--repeats", "1", "--no-cache", "--context-window", "200000",
    ]


def catalog(binary, run, folder):
    """Estimates, as `submit` does; gives seconds, and the size in MB of the catalog, which parts map into memory."""
    seconds = measured([binary, "estimate", *run[2:], "--json"], folder)[0]
    return seconds, size(folder / "cache" / "catalogs")


def check_read(read, folder, parts):
    """Checks what a part has read, in MB, beside the catalog: the program, its own book and the questions."""
    most = START_BYTES / 1e6 + 3 * size(folder / "bench") / parts + (folder / "bench" / "items.jsonl").stat().st_size / 1e6
    check(read <= most, f"a part reads {read:.2f} MB, at most {most:.2f} expected")


def books(binary, url, parts=1_000):
    print("book KB  benchmark MB  estimate s  catalog MB  a part s  reads MB  memory MB")
    for book_bytes in BOOKS:
        with tempfile.TemporaryDirectory(prefix="closeread-scale-") as folder:
            folder = pathlib.Path(folder)
            make(folder / "bench", parts, book_bytes)
            run = run_of(binary, url)
            estimate, kept = catalog(binary, run, folder)
            seconds, read, _ = measured([*run, "--shard", f"2/{parts}", "--out", "part"], folder)
            memory = peak([*run, "--shard", f"3/{parts}", "--out", "other"], folder)
            print(
                f"{book_bytes // 1000:>7} {size(folder / 'bench'):>13.1f} {estimate:>11.2f} {kept:>11.2f} {seconds:>9.2f} "
                f"{read / 1e6:>9.2f} {memory:>10.0f}",
                flush=True,
            )
            check_read(read / 1e6, folder, parts)


def scale(binary, url, parts):
    with tempfile.TemporaryDirectory(prefix="closeread-scale-") as folder:
        folder = pathlib.Path(folder)
        make(folder / "bench", parts)
        run = run_of(binary, url)
        _, kept = catalog(binary, run, folder)
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
            f"{parts:>5} {running:>7.1f} {running / parts:>9.3f} {max(read) / 1e6:>14.2f} {kept:>7.2f} {size(folder / 'bench'):>9.2f} "
            f"{merging:>8.2f} {memory:>9.0f} {status:>9.2f} {size(folder / 'spread'):>10.1f} {manifests:>10.1f}",
            flush=True,
        )
        check_read(max(read) / 1e6, folder, parts)
        check(merging <= MOST_SECONDS and memory <= MOST_MEGABYTES, f"merge: {merging:.1f} s, {memory:.0f} MB")
        return max(merging, LEAST_SECONDS) / parts


def main(binary, *numbers):
    binary = pathlib.Path(binary).resolve(strict=True)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url, before, asked = ours.recv(), None, 0
    if numbers == ("books",):
        return books(binary, url)
    print("parts  runs s  a part s  MB a part read  catalog  benchmark  merge s  merge MB  status s  parts' MB  manifests")
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
