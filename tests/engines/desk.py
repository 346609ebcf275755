"""A user of closeread with a folder of their own: six stories, the calls, and what becomes of the parts."""

import json
import pathlib
import shlex
import socket
import subprocess
import time

PATIENCE = 300
NAMES = ["Ana", "Ben", "Cleo", "Dov", "Edda", "Finn"]
# One question of the third part, asked by two methods; the part has ten other trials.
HELD = "Finn find, asked for the time 2"


def until(what, is_so):
    """Waits until `is_so` gives something true, and gives it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := is_so():
            return found
        time.sleep(0.1)
    raise SystemExit(f"waited in vain for {what}")


def check(is_so, what):
    if not is_so:
        raise SystemExit(f"not so: {what}")


def free_port():
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        return there.getsockname()[1]


class Desk:
    """A user's folder, with six stories of three questions, and what the user calls."""

    def __init__(self, folder, environment, server, binary):
        self.folder, self.server = folder, server
        self.out, self.store = "spread", None
        (self.folder / "tales").mkdir(parents=True)
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "closeread").symlink_to(binary)
        self.environment = {
            **environment, "PATH": f"{programs}:{environment['PATH']}", "CLOSEREAD_CACHE": str(self.folder / "cache"),
        }
        documents, items = [], []
        for index, who in enumerate(NAMES):
            text = f"{who} found a key at the fair. Nobody knew of it. At night {who} hid it under stair {index}. Then came the winter."
            documents.append({"id": f"tale-{index}", "title": who, "language": "en", "text": text})
            for number in range(3):
                items.append({
                    "id": f"t{index}-{number}", "documents": [f"tale-{index}"], "task": "choice", "correct": number,
                    "question": f"What did {who} find, asked for the time {number}?", "options": ["a key", "a lamp", "a map", "a spoon"],
                })
        for name, rows in (("documents", documents), ("items", items)):
            (self.folder / f"tales/{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.options = [
            "--benchmark", "tales", "--method", "closed-book,full-document", "--model", "openai-compatible/steady",
            "--base-url", server.url, "--repeats", "1", "--no-cache", "--context-window", "8000",
            "--concurrency", "24",
        ]

    def use(self, store):
        """From now on parts lie in a store, at an address that no other test on this machine has."""
        self.store = store
        self.environment |= store.variables
        self.out = f"s3://evals/{self.server.server_address[1]}/spread"

    def call(self, *command, expected=(0,)):
        words = [str(word) for word in command]
        ended = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True, text=True)
        if ended.returncode not in expected:
            logs = "".join(f"{log}:\n{log.read_text()}" for log in sorted(self.folder.rglob("*.log")))
            said = f"exit code {ended.returncode}, expected {expected}\n{ended.stdout}{ended.stderr}{logs}"
            raise SystemExit(f"{shlex.join(map(str, command))}: {said}")
        return ended.stdout + ended.stderr

    def submission(self, engine, *more):
        return ["closeread", "submit", engine, "--parts", "3", "--out", self.out, *map(str, more), "--", *self.options]

    def submit(self, engine, *more):
        return self.call(*self.submission(engine, *more))

    def status(self, expected):
        if self.store is None and not (self.folder / "spread/parts/2").exists():
            return []
        # Of a store in which no part has begun, status says so and exits with 2.
        said = self.call("closeread", "status", self.out, "--json", "--quiet", expected=(*expected, 2) if self.store else expected)
        return json.loads(said) if said.startswith("[") else []

    def states(self, expected=(0, 1)):
        return {int(part["part"]): part["state"] for part in self.status(expected)}

    def facts(self, folder):
        """What a run says, without times: its report, records and items."""
        def timeless(value):
            if isinstance(value, dict):
                kept = {key: inner for key, inner in value.items() if "seconds" not in key and key != "run"}
                return {key: timeless(inner) for key, inner in kept.items()}
            return [timeless(inner) for inner in value] if isinstance(value, list) else value
        report = json.loads(self.call("closeread", "report", folder, "--json", "--quiet", expected=(0, 1)))
        def read(name):
            return self.store.read(f"{folder}/{name}") if "://" in folder else (self.folder / folder / name).read_text()
        records = sorted(json.dumps(timeless(json.loads(line))) for line in read("records.jsonl").splitlines())
        return [timeless(report["runs"]), records, read("items.jsonl")]

    def equals_one_machine(self, folder):
        if not (self.folder / "alone").exists():
            self.call("closeread", "run", *self.options, "--out", "alone")
        self.call("closeread", "verify", folder)
        for alone, joined in zip(self.facts("alone"), self.facts(folder), strict=True):
            check(alone == joined, f"{folder} is the run of one machine:\n{joined}\n{alone}")

    def records(self, part):
        return next((seen["trials"] for seen in self.status((0, 1)) if seen["part"] == str(part)), 0)

    def until_held(self):
        """Waits until the third part has something and is held, and the others are finished."""
        def is_held():
            others = [self.states().get(part) for part in (0, 1)]
            return others == ["finished"] * 2 and self.records(2) > 0 and self.server.waiting > 0 and self.process(2)
        until("two parts that are finished and one that is held", is_held)

    def process(self, part):
        """The closeread that runs a part."""
        place = self.out if self.store else self.folder / self.out
        wanted = f"{place}/parts/{part}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in words and words[1:2] == [b"run"]:
                return int(folder.name)
        return None
