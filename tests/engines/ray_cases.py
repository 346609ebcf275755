"""Runs in parts on a real Ray: `closeread submit ray`, a worker that is killed, and parts in an object store.

    python3 tests/engines/ray_cases.py ENVIRONMENT BINARY      # ENVIRONMENT: what `cargo xtask test --install --only engines` makes

The case `in_store` needs moto's server in `stores` beside ENVIRONMENT, and is left out without.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from desk import HELD, Desk, check, until
from server import Server
from store import Store, moto


def parent(process):
    return int(re.search(r"^PPid:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.M)[1])


def worker_killed(desk):
    """The worker of a part is killed with -9: closeread ends with it, and the part goes on in another worker."""
    desk.server.hold(HELD)
    driver = subprocess.Popen(
        desk.submission("ray"), env=desk.environment, cwd=desk.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    desk.until_held()
    closeread, kept, asked = desk.process(2), desk.records(2), desk.server.asked
    worker = parent(closeread)
    check(b"ray::part" in pathlib.Path(f"/proc/{worker}/cmdline").read_bytes(), "closeread's parent is Ray's worker")
    os.kill(worker, signal.SIGKILL)
    until("the end of the lost worker's closeread", lambda: desk.process(2) != closeread)
    until("another worker", lambda: desk.process(2))
    desk.server.release()
    said, _ = driver.communicate(timeout=300)
    check(driver.returncode == 0 and "parts ended with {0: 0, 1: 0, 2: 0}" in said, said)
    check(desk.server.asked - asked <= 12 - kept, f"{desk.server.asked - asked} calls, {kept} trials were kept")
    desk.equals_one_machine("spread/whole")


def in_store(desk, store):
    """Parts in an object store, whose tasks print what they have to say where the command was given."""
    desk.use(store)
    said = desk.submit("ray")
    check("parts ended with {0: 0, 1: 0, 2: 0}" in said and "is written by way of" in said, said)
    desk.equals_one_machine(f"{desk.out}/whole")
    again = desk.submit("ray")
    check("all 3 parts are finished" in again, again)


def main(environment, binary):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="closeread-ray-"))
    # Ray writes into HOME on its first start.
    variables = {**os.environ, "HOME": str(folder), "PATH": f"{pathlib.Path(environment).resolve()}/bin:{os.environ['PATH']}"}
    variables |= {"RAY_ADDRESS": "local", "RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_DOCKER_CPU_WARNING": "1"}
    server, binary = Server(), pathlib.Path(binary).resolve(strict=True)
    try:
        worker_killed(Desk(folder / "desk", variables, server, binary))
        print("worker_killed: passed")
        if moto(environment).exists():
            store = Store(moto(environment))
            try:
                in_store(Desk(folder / "in_store", variables, server, binary), store)
            finally:
                store.close()
            print("in_store: passed")
    finally:
        server.release()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
