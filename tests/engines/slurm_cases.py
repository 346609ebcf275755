"""Runs in parts on a real Slurm: what `closeread submit`, `status` and `merge` make of killed, late and resubmitted tasks.

    python3 tests/engines/slurm_cases.py UNPACKED BINARY [CASE ...]      # UNPACKED: the folder of `cluster.py fetch`; root is needed

The cases `in_store` and `how_to` need moto's server in `stores` beside UNPACKED, and are left out without.

Every case ends with the report of one machine, but for times.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import sys
import time

from cluster import Cluster
from desk import HELD, Desk, check, until
from page import run_page
from server import Server
from store import Store, moto

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

def killed(desk, cluster):
    """A task killed with -9; the merge names what lacks; given again, submit hands in that part alone."""
    desk.server.hold(HELD)
    desk.submit("slurm")
    desk.until_held()
    part = 2
    kept = desk.records(part)
    os.kill(desk.process(part), signal.SIGKILL)
    cluster.until_idle()
    desk.server.release()
    jobs = cluster.jobs()
    check(list(jobs.values()).count("FAILED") == 2, f"the killed task and its merge have failed: {jobs}")
    check(desk.states() == {0: "finished", 1: "finished", 2: "finished"} | {part: "stopped"}, desk.states())
    check("have no record" in (desk.folder / "spread/logs/merge.log").read_text(), "the merge says what lacks")
    asked = desk.server.asked
    said = desk.submit("slurm", "--follow")
    check("3 of 3 parts finished" in said, f"a part that is to run again is followed to its end:\n{said}")
    cluster.until_idle()
    check(f"#SBATCH --array={part}\n" in (desk.folder / "spread/submit.sh").read_text(), "the killed part alone")
    check(desk.server.asked - asked == 12 - kept, f"{desk.server.asked - asked} calls, {kept} trials were kept")
    check(set(desk.states((0,)).values()) == {"finished"}, "all parts are finished")
    desk.equals_one_machine("spread/whole")


def cancelled(desk, cluster):
    """A part that was cancelled before it began leaves no folder; the others are joined all the same."""
    desk.server.hold("tale")
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=DRAIN", "Reason=test")
    desk.submit("slurm")
    array = min(int(re.match(r"\d+", job)[0]) for job in cluster.jobs("pending"))
    cluster.call("scancel", f"{array}_1")
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=RESUME")
    desk.server.release()
    cluster.until_idle()
    check(desk.states() == {0: "finished", 1: "waiting", 2: "finished"}, desk.states())
    joined = (desk.folder / "spread/logs/merge.log").read_text()
    check("parts that are missing: 2/3" in joined, joined)
    check((desk.folder / "spread/whole/records.jsonl").read_text().count("\n") == 24, "two parts are joined")
    desk.submit("slurm")
    cluster.until_idle()
    check("#SBATCH --array=1\n" in (desk.folder / "spread/submit.sh").read_text(), "the missing part alone")
    desk.equals_one_machine("spread/whole")


def pending(desk, cluster):
    """Parts that wait in the queue or run are not handed in again, and one that is cancelled is; one job joins all."""
    desk.server.hold("find")
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=DRAIN", "Reason=test")
    desk.submit("slurm")
    waiting = cluster.jobs("pending")
    again = desk.submit("slurm")
    check("in Slurm's queue, which are not handed in again: 3" in again, again)
    check(cluster.jobs("pending") == waiting, f"nothing was handed in: {cluster.jobs()}")
    array = min(int(re.match(r"\d+", job)[0]) for job in waiting)
    cluster.call("scancel", f"{array}_1")
    again = desk.submit("slurm")
    check("not handed in again: 2" in again, again)
    check("#SBATCH --array=1\n" in (desk.folder / "spread/submit.sh").read_text(), "the cancelled part alone")
    check(list(cluster.jobs("pending").values()).count("PENDING") == 4, f"three parts and one job that joins: {cluster.jobs()}")
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=RESUME")
    until("a part that runs", lambda: desk.server.waiting > 0)
    again = desk.submit("slurm")
    check("not handed in again" in again and "array" not in again, again)
    desk.server.release()
    cluster.until_idle()
    check(set(desk.states((0,)).values()) == {"finished"}, "all parts are finished")
    desk.equals_one_machine("spread/whole")


def unnoted(desk, cluster):
    """submit is killed once sbatch has taken the array and before its number is noted: given again, it finds and joins the array."""
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=DRAIN", "Reason=test")
    killing = desk.folder / "bin/sbatch"
    killing.write_text(f"#!/bin/bash\n{shutil.which('sbatch', path=cluster.environment['PATH'])} \"$@\"\nkill -9 $PPID\n")
    killing.chmod(0o755)
    desk.call(*desk.submission("slurm"), expected=(-signal.SIGKILL,))
    killing.unlink()
    check(not (desk.folder / "spread/logs/jobs").exists(), "the number is not noted")
    again = desk.submit("slurm")
    check("in Slurm's queue, which are not handed in again: 3" in again, again)
    check(list(cluster.jobs("pending").values()).count("PENDING") == 4, f"three parts and one job that joins: {cluster.jobs()}")
    cluster.call("scontrol", "update", f"NodeName={cluster.host}", "State=RESUME")
    cluster.until_idle()
    desk.equals_one_machine("spread/whole")


def late(desk, cluster):
    """A task past its time limit is told to end before it is killed, keeps what it finished, and goes on."""
    desk.server.hold(HELD)
    desk.submit("slurm", "--minutes", 4)
    desk.until_held()
    part = 2
    kept = desk.records(part)
    cluster.until_idle()
    log = (desk.folder / f"spread/logs/{part}.log").read_text()
    check("give the same command again to resume" in log, f"the task was told to end and says how to resume:\n{log}")
    check(desk.states()[part] == "stopped" and desk.records(part) >= kept, "what was finished is kept")
    desk.server.release()
    desk.submit("slurm", "--minutes", 4)
    cluster.until_idle()
    desk.equals_one_machine("spread/whole")


def stepped(desk, cluster):
    """An array by hand with steps, whose parts `auto` numbers; one with gaps is refused."""
    script = desk.folder / "array.sh"
    script.write_text(
        "#!/bin/bash\n#SBATCH --array=1-5:2\n#SBATCH --time=8:00:00\n#SBATCH --signal=B:TERM@120\n#SBATCH --output=%a.log\n"
        f"exec closeread run {shlex.join(desk.options)} --shard auto --out parts/$SLURM_ARRAY_TASK_ID\n"
    )
    desk.call("sbatch", script)
    cluster.until_idle()
    desk.call("closeread", "merge", *(f"parts/{id}" for id in (1, 3, 5)), "--out", "whole")
    desk.equals_one_machine("whole")
    desk.call("sbatch", "--array=1,2,5", script)
    cluster.until_idle()
    check("with gaps" in (desk.folder / "2.log").read_text(), "an array with gaps is refused")
    check(not (desk.folder / "parts/2").exists(), "and runs nothing")


def requeued(desk, cluster):
    """A task that is requeued goes on in its folder: what it finished is not asked again."""
    desk.server.hold(HELD)
    desk.submit("slurm")
    desk.until_held()
    part = 2
    task = next(job for job in cluster.jobs("running") if job.endswith(f"_{part}"))
    asked, kept = desk.server.asked, desk.records(part)
    cluster.call("scontrol", "requeue", task)
    until("the end of the task", lambda: desk.process(part) is None)
    desk.server.release()
    cluster.until_idle()
    check(desk.server.asked - asked <= 12 - kept, f"{desk.server.asked - asked} calls, {kept} trials were kept")
    desk.equals_one_machine("spread/whole")


def in_store(desk, cluster):
    """Parts in an object store: one is killed with -9 and lost with its disk; given again, submit hands in that part alone."""
    store = Store(cluster.moto)
    try:
        desk.use(store)
        desk.server.hold(HELD)
        desk.submit("slurm")
        desk.until_held()
        kept = desk.records(2)
        os.kill(desk.process(2), signal.SIGKILL)
        cluster.until_idle()
        desk.server.release()
        check("have no record" in (desk.folder / "spread-logs/merge.log").read_text(), "the merge says what lacks")
        until("the killed part is taken for lost", lambda: desk.states() == {0: "finished", 1: "finished", 2: "stopped"})
        asked = desk.server.asked
        desk.environment["CLOSEREAD_CACHE"] = str(desk.folder / "another disk")
        desk.submit("slurm")
        cluster.until_idle()
        script = (desk.folder / "submit.sh").read_text()
        check("#SBATCH --array=2\n" in script and "geheim" not in script, f"the killed part alone, and no key:\n{script}")
        check(2 <= desk.server.asked - asked <= 12 - kept, f"{desk.server.asked - asked} calls, {kept} trials were sent")
        check(set(desk.states((0,)).values()) == {"finished"}, "all parts are finished")
        desk.equals_one_machine(f"{desk.out}/whole")
    finally:
        store.close()


def how_to(desk, cluster):
    """Every command of docs/how-to/slurm.md, word for word, prints what the page says."""
    store = Store(cluster.moto)
    try:
        desk.environment |= store.variables
        run_page(REPOSITORY / "docs/how-to/slurm.md", desk, cluster.until_idle)
        cluster.until_idle()
        joined = (desk.folder / "spread-logs/merge.log").read_text()
        check("whole: items 123 of 123, trials 246 of 246" in joined, joined)
        for alone, whole in zip(desk.facts("alone"), desk.facts("spread/whole"), strict=True):
            check(alone == whole, f"the joined run is that of one machine:\n{whole}\n{alone}")
    finally:
        store.close()


CASES = {case.__name__: case for case in (killed, cancelled, pending, unnoted, late, stepped, requeued, in_store, how_to)}


def main(unpacked, binary, *names):
    binary = pathlib.Path(binary).resolve(strict=True)
    cluster, server = Cluster(unpacked), Server()
    cluster.moto = moto(unpacked)
    try:
        for name in names or [name for name in CASES if cluster.moto.exists() or name not in ("in_store", "how_to")]:
            began = time.monotonic()
            server.release()
            CASES[name](Desk(cluster.folder / name, cluster.environment, server, binary), cluster)
            print(f"{name}: passed, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        server.release()
        cluster.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
