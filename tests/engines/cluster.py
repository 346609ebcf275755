"""A real Slurm of one node on this machine, from Debian's packages, unpacked and not installed.

    python3 tests/engines/cluster.py fetch FOLDER      # 4 MB; unpacks into FOLDER/root
"""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from desk import free_port, until

PACKAGES = ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libmunge2"]
LIBRARIES = "usr/lib/x86_64-linux-gnu"

CONFIGURATION = """
ClusterName=closeread
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
PluginDir={root}/{libraries}/slurm-wlm
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MinJobAge=900
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def fetch(folder):
    """Downloads the packages and the libraries that this machine lacks for them, and unpacks all."""
    folder = pathlib.Path(folder).resolve()
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    said = subprocess.run(
        ["apt-get", "--simulate", "--no-install-recommends", "install", *PACKAGES],
        check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"},
    ).stdout
    lacking = [line.split()[1] for line in said.splitlines() if line.startswith("Inst ")]
    subprocess.run(["apt-get", "--quiet", "download", *sorted({*PACKAGES, *lacking})], check=True, cwd=archives)
    fresh = folder / "unpacked"
    shutil.rmtree(fresh, ignore_errors=True)
    for archive in sorted(archives.glob("*.deb")):
        subprocess.run(["dpkg", "-x", archive, fresh], check=True)
    shutil.rmtree(archives)
    shutil.rmtree(folder / "root", ignore_errors=True)
    fresh.rename(folder / "root")


class Cluster:
    """Daemons that live until `close`; `call` runs a program of Slurm's as a user of the cluster would."""

    def __init__(self, unpacked, cpus=2):
        root = pathlib.Path(unpacked).resolve() / "root"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="closeread-slurm-"))
        self.folder.chmod(0o755)
        self.daemons = []
        self.host = host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=host, folder=self.folder, root=root, libraries=LIBRARIES, cpus=cpus, controller=free_port(), node=free_port(),
        ))
        libraries = root / LIBRARIES
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(configuration),
            "LD_LIBRARY_PATH": f"{libraries}:{libraries}/slurm-wlm",
            "PATH": f"{root}/usr/bin:{os.environ['PATH']}",
        }
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        try:
            self.start("munged", [
                root / "usr/sbin/munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed",
            ])
            until("munged", (self.folder / "munge.socket").exists)
            self.start("slurmctld", [root / "usr/sbin/slurmctld-wlm", "-D", "-f", configuration])
            self.start("slurmd", [
                root / "usr/sbin/slurmd-wlm", "-D", "-f", configuration, "-d", root / "usr/sbin/slurmstepd-wlm",
            ])
            until("an idle node", lambda: self.call("sinfo", "--noheader", "--format=%T", check=False) == "idle")
        except BaseException:
            for log in sorted(self.folder.glob("*.log")):
                print(f"{log.name}:", log.read_text()[-2000:], file=sys.stderr)
            self.close()
            raise

    def start(self, name, command):
        log = open(self.folder / f"{name}.out.log", "wb")
        self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True))

    def call(self, *command, check=True):
        ended = subprocess.run([str(word) for word in command], env=self.environment, capture_output=True, text=True)
        if check and ended.returncode != 0:
            raise SystemExit(f"{command[0]}: exit code {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout.strip()

    def jobs(self, states="all"):
        """The states of all tasks by `ARRAY_TASK` or job number."""
        lines = self.call("squeue", "--noheader", "--array", f"--states={states}", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def until_idle(self):
        until("the end of all jobs", lambda: not self.jobs("pending,running,completing,configuring,suspended"))

    def close(self):
        """Ends all jobs and daemons, the node before its controller."""
        if len(self.daemons) == 3:
            self.call("scancel", "--user=root", "--signal=KILL", check=False)
            self.call("scancel", "--user=root", check=False)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fetch", folder]:
            fetch(folder)
        case _:
            raise SystemExit(__doc__)
