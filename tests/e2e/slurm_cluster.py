# SPDX-License-Identifier: MIT
"""A Slurm of several nodes on this machine: slurmctld, and a slurmd for each node with a port of its own."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from kit import Failure, Skipped

NEEDED = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "munged")
CONFIG = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={root}/munge.sock
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def programs_of_node(node: str) -> list[int]:
    """Processes that Slurm has started on a node."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"SLURMD_NODENAME={node}".encode() in (entry / "environ").read_bytes().split(
                b"\0"
            ):
                found.append(int(entry.name))
    return found


class Cluster:
    def __init__(self, nodes: int) -> None:
        missing = [name for name in NEEDED if not shutil.which(name)]
        if missing:
            raise Skipped(f"no {missing[0]} here: Slurm's and munge's packages are missing")
        if os.geteuid() != 0:
            raise Skipped("a Slurm of one's own needs root")
        self.root = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # short: it holds sockets
        self.root.chmod(0o755)
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        controller, *ports = free_ports(1 + nodes)
        lines = [
            f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2000"
            for node, port in zip(self.nodes, ports)
        ]
        config = self.root / "slurm.conf"
        config.write_text(CONFIG.format(root=self.root, controller=controller, nodes="\n".join(lines)))
        self.env = {"SLURM_CONF": str(config)}
        self.daemons: list[Path] = []
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def tool(self, *words: object) -> str:
        done = subprocess.run(
            [str(word) for word in words], env={**os.environ, **self.env}, capture_output=True, timeout=60
        )
        if done.returncode != 0:
            raise Failure(f"{words}: {done.stderr.decode()[-400:]}")
        return done.stdout.decode()

    def start(self) -> None:
        key = self.root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        files = {"socket": "munge.sock", "pid-file": "munged.pid", "log-file": "munged.log", "seed-file": "munged.seed"}
        options = [f"--{name}={self.root}/{file}" for name, file in files.items()]
        self.tool("munged", "--force", f"--key-file={key}", *options)
        for folder in ("state", "spool"):
            (self.root / folder).mkdir()
        self.tool("slurmctld", "-c")
        for node in self.nodes:
            (self.root / "spool" / node).mkdir()
            self.tool("slurmd", "-N", node)
        end = time.monotonic() + 60
        while len(self.tool("sinfo", "-h", "-N", "-t", "idle").split("\n")) != len(self.nodes) + 1:
            if time.monotonic() > end:
                raise Failure(f"no idle nodes: {self.tool('sinfo', '-N')}")
            time.sleep(0.1)

    def kill_node(self, node: str) -> None:
        """As if its power went: its daemon, and all that it started, at once and without a word."""
        os.kill(int((self.root / f"slurmd-{node}.pid").read_text()), signal.SIGKILL)
        for pid in programs_of_node(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        for node in self.nodes:
            for pid in programs_of_node(node):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for path in [*self.root.glob("slurm*.pid"), *self.root.glob("munged.pid")]:
            with contextlib.suppress(ProcessLookupError, ValueError, OSError):
                os.kill(int(path.read_text()), signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)
