"""Commands and outputs of a page of docs/, run as they stand there, those that need an engine among them."""

import re

BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.S | re.M)


def commands(text):
    """Each command with the lines below it; of a block `sh` the whole, which prints what it likes."""
    for kind, block in BLOCK.findall(text):
        if kind == "sh":
            yield block, []
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.splitlines()
            yield command, lines


def plain(line):
    return "---" if re.fullmatch(r"-{4,}", line.strip()) else " ".join(line.split())


def prints(lines, said):
    """Whether the lines come in this order; `...` stands for any lines, or for the beginning of one."""
    printed, anywhere = [plain(line) for line in said.splitlines()], False
    for line in map(plain, lines):
        if line == "...":
            anywhere = True
            continue
        fits = (lambda there: there.endswith(line[3:])) if line.startswith("...") else (lambda there: there == line)
        at = next((at for at, there in enumerate(printed) if fits(there)), None)
        if at is None or (at > 0 and not anywhere and not line.startswith("...")):
            return False
        printed, anywhere = printed[at + 1:], False
    return anywhere or not printed


def run_page(page, desk, until_idle):
    """Runs each command. A user looks at the queue until it is empty, and so does this."""
    for command, lines in commands(page.read_text()):
        if command.startswith("#!"):
            (desk.folder / "array.sh").write_text(command)
            command = "sbatch array.sh"
        if command.startswith(("squeue", "closeread merge")):
            until_idle()
        said = desk.call("bash", "-euo", "pipefail", "-c", command)
        if lines and not prints(lines, said):
            raise SystemExit(f"{page.name}: `{command}` is to print\n{chr(10).join(lines)}\nand prints\n{said}")
