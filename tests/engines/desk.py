"""A user of closeread with a folder of their own: six stories, the calls, and what becomes of the parts."""

import json
import pathlib
import shlex
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


class Desk:
    """A user's folder, with six stories of three questions, and what the user calls."""

    def __init__(self, folder, environment, server, binary):
        self.folder, self.server = folder, server
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

    def call(self, *command, expected=(0,)):
        words = [str(word) for word in command]
        ended = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True, text=True)
        if ended.returncode not in expected:
            logs = "".join(f"{log}:\n{log.read_text()}" for log in sorted(self.folder.rglob("*.log")))
            said = f"exit code {ended.returncode}, expected {expected}\n{ended.stdout}{ended.stderr}{logs}"
            raise SystemExit(f"{shlex.join(map(str, command))}: {said}")
        return ended.stdout + ended.stderr

    def submission(self, engine, *more):
        return ["closeread", "submit", engine, "--parts", "3", "--out", "spread", *map(str, more), "--", *self.options]

    def submit(self, engine, *more):
        return self.call(*self.submission(engine, *more))

    def states(self, expected=(0, 1)):
        if not (self.folder / "spread/parts/2").exists():
            return {}
        status = self.call("closeread", "status", "spread", "--json", expected=expected)
        return {int(part["part"]): part["state"] for part in json.loads(status)}

    def facts(self, folder):
        """What a run says, without times: its report, records and items."""
        def timeless(value):
            if isinstance(value, dict):
                kept = {key: inner for key, inner in value.items() if "seconds" not in key and key != "run"}
                return {key: timeless(inner) for key, inner in kept.items()}
            return [timeless(inner) for inner in value] if isinstance(value, list) else value
        report = json.loads(self.call("closeread", "report", folder, "--json", expected=(0, 1)))
        records = [json.loads(line) for line in (self.folder / folder / "records.jsonl").read_text().splitlines()]
        records = sorted(json.dumps(timeless(record)) for record in records)
        return [timeless(report["runs"]), records, (self.folder / folder / "items.jsonl").read_text()]

    def equals_one_machine(self, folder):
        if not (self.folder / "alone").exists():
            self.call("closeread", "run", *self.options, "--out", "alone")
        self.call("closeread", "verify", folder)
        for alone, joined in zip(self.facts("alone"), self.facts(folder), strict=True):
            check(alone == joined, f"{folder} is the run of one machine:\n{joined}\n{alone}")

    def records(self, part):
        records = self.folder / f"spread/parts/{part}/records.jsonl"
        return records.read_text().count("\n") if records.exists() else 0

    def until_held(self):
        """Waits until the third part has something and is held, and the others are finished."""
        def is_held():
            others = [self.states().get(part) for part in (0, 1)]
            return others == ["finished"] * 2 and self.records(2) > 0 and self.server.waiting > 0 and self.process(2)
        until("two parts that are finished and one that is held", is_held)

    def process(self, part):
        """The closeread that runs a part."""
        ending = f"/spread/parts/{part}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = (word for word in words if word.endswith(ending) and word.startswith(bytes(self.folder)))
            if any(ours) and words[1:2] == [b"run"]:
                return int(folder.name)
        return None
