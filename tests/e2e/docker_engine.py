# SPDX-License-Identifier: MIT
"""A Docker engine of a test's own: socket, data and control groups of its own, and images made on the spot."""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kit import Failure, Process, Skipped

GROUPS = Path("/sys/fs/cgroup")
START_S, STOP_S, SETTLE_S = 60, 30, 10
SHELL = ("sh", "cat", "sleep", "id", "env")


def no_engine(reason: str) -> Exception:
    """A test that needs one is skipped; in CI it fails, as a group of tests that are all skipped proves nothing."""
    refused = os.environ.get("FATHOM_NO_ENGINE") == "1" or os.geteuid() != 0
    if os.environ.get("CI") == "true" and not refused:
        return Failure(f"{reason}; FATHOM_NO_ENGINE=1 skips the tests of containers")
    return Skipped(reason)


def hand_down_controllers(top: Path) -> None:
    """In a container with groups of version 2 its processes leave the top group: a group that holds some gives its
    children no controllers, and an engine needs those. The machine's own top group has no type and is let alone, and
    so is one that a systemd looks after."""
    if not (top / "cgroup.type").exists() or Path("/run/systemd/system").exists():
        return
    below = top / "fathom-tests"
    below.mkdir(exist_ok=True)
    wanted = " ".join(f"+{name}" for name in (top / "cgroup.controllers").read_text().split())
    for _ in range(20):  # one may be started meanwhile
        for pid in (top / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (below / "cgroup.procs").write_text(pid)
        with contextlib.suppress(OSError):
            (top / "cgroup.subtree_control").write_text(wanted)
            return


class Engine:
    """dockerd, and what its own command line says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.socket = root / "socket"
        self.group = f"fathom-test-{os.getpid()}"
        self.made: set[str] = set()  # the images, by their IDs, also those that have lost their names to later ones
        self.process = self.start()

    @property
    def env(self) -> dict[str, str]:
        return {"DOCKER_HOST": f"unix://{self.socket}"}

    def start(self) -> Process:
        (self.root / "settings").write_text("{}")
        places = {"config-file": "settings", "data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        flags = [f"--{flag}={self.root / name}" for flag, name in places.items()]
        alone = ["--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"]
        # Under systemd it would take slices alone as parents.
        groups = ["--exec-opt=native.cgroupdriver=cgroupfs", f"--cgroup-parent=/{self.group}"]
        quiet = ["--log-level=warn", f"--host=unix://{self.socket}"]
        with (self.root / "log").open("ab") as log:
            command, nothing = ["dockerd", *flags, *alone, *groups, *quiet], subprocess.DEVNULL
            return subprocess.Popen(command, stdin=nothing, stdout=log, stderr=log, start_new_session=True)

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + START_S
        while self.docker("version", status=None).returncode != 0:
            if time.monotonic() > deadline or self.process.poll() is not None:
                lines = (self.root / "log").read_text(errors="replace").splitlines()
                raise no_engine(f"the engine does not start: {lines[-1] if lines else 'it says nothing'}")
            time.sleep(0.1)

    def docker(self, *words: object, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        command = ["docker", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **self.env}, timeout=120)
        if status is not None and done.returncode != status:
            raise Failure(f"{command}: status {done.returncode}, {done.stderr}")
        return done

    def containers(self) -> list[str]:
        return self.docker("ps", "--all", "--quiet", "--no-trunc").stdout.split()

    def inspect(self, name: str) -> Any:
        return json.loads(self.docker("inspect", name).stdout)[0]

    def state(self) -> dict[str, set[str]]:
        """What could be left behind by a run; images that a test made are named test/…"""
        named = ("--format", "{{.Name}}")
        images = self.docker("images", "--no-trunc", "--format", "{{.Repository}} {{.ID}}").stdout.splitlines()
        return {
            "containers": set(self.containers()),
            "images": {line for line in images if "test/" not in line and line.split()[1] not in self.made},
            "volumes": set(self.docker("volume", "ls", *named).stdout.split()),
            "networks": set(self.docker("network", "ls", *named).stdout.split()),
            "mounts": {place for place in self.mounts() if "/netns/" not in place},  # the engine's own, for good
            "control groups": {str(path) for path in self.groups()},
        }

    def expect_nothing_left(self, before: dict[str, set[str]]) -> None:
        """But what the test itself began, which is ended first. The engine ends the last things a moment later."""
        ours = self.docker("ps", "--all", "--quiet", "--filter", "label=fathom.owner").stdout.split()
        if ours:
            raise Failure(f"containers that are left: {ours}")
        others = self.containers()
        if others:
            self.docker("rm", "--force", "--volumes", *others)
        until = time.monotonic() + SETTLE_S
        while left := {what: more for what, all_of in self.state().items() if (more := all_of - before[what])}:
            if time.monotonic() > until:
                raise Failure(f"left behind: {left}")
            time.sleep(0.1)

    def mounts(self) -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [line.split()[4] for line in lines if str(self.root) in line]

    def groups(self) -> list[Path]:
        """Of its containers."""
        return [path for path in GROUPS.glob(f"**/{self.group}/**/") if path.name != self.group]

    def restart(self) -> None:
        """As a service manager does it: what runs in containers is stopped first."""
        self.end()
        self.start_again()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def start_again(self) -> None:
        self.process = self.start()
        self.wait_until_up()

    def kill(self) -> None:
        """By SIGKILL. containerd ends with it and may stay a zombie: by its file, the next engine
        would take it for one that lives."""
        self.process.kill()
        self.process.wait()
        (self.root / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)

    def left_running(self) -> Iterator[int]:
        """What an engine that was killed leaves: containers, and programs of its own that name its folder."""
        for group in self.groups():
            with contextlib.suppress(OSError):
                yield from map(int, (group / "cgroup.procs").read_text().split())
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.root).encode() in path.read_bytes():
                    yield int(path.parent.name)

    def stop(self) -> None:
        self.end()
        until = time.monotonic() + STOP_S
        while (left := set(self.left_running())) and time.monotonic() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for place in reversed(self.mounts()):
            subprocess.run(["umount", place], capture_output=True)
        for path in sorted(GROUPS.glob(f"**/{self.group}/**/"), key=lambda path: -len(path.parts)):
            with contextlib.suppress(OSError):
                path.rmdir()

    def image(self, name: str, programs: dict[str, Path], *changes: str) -> str:
        """An image of these programs, by the path that they have in it, with the libraries that they load."""
        files = dict(programs)
        brought = {os.path.realpath(path) for path in programs.values()}  # by a package, in its own place
        for path in set(re.findall(r"(/\S+\.so\S*) \(0x", self.libraries(programs))):
            if os.path.realpath(path) not in brought:
                files[os.path.normpath(path)] = Path(path)
        packed = self.root / f"{name}.tar"
        with tarfile.open(packed, "w") as tar:
            for place, mode in (("tmp", 0o1777), ("app", 0o755), ("etc", 0o755)):
                entry = tarfile.TarInfo(place)
                entry.type, entry.mode = tarfile.DIRTYPE, mode
                tar.addfile(entry)
            for place, path in files.items():
                data = path.read_bytes()
                entry = tarfile.TarInfo(place.lstrip("/"))
                entry.size, entry.mode = len(data), path.stat().st_mode & 0o777
                tar.addfile(entry, io.BytesIO(data))
        options = [word for change in ("WORKDIR /app", "ENV PATH=/app:/bin", *changes) for word in ("--change", change)]
        self.made.add(self.docker("import", *options, packed, f"test/{name}:1").stdout.strip())
        packed.unlink()
        return f"test/{name}:1"

    @staticmethod
    def libraries(programs: dict[str, Path]) -> str:
        binary = [path for path in programs.values() if path.read_bytes()[:4] == b"\x7fELF"]
        return subprocess.run(["ldd", *binary], capture_output=True, text=True).stdout

    def python(self, name: str, files: dict[str, Path], packages: Path | None, *changes: str) -> str:
        """An image with this interpreter as python3, a shell, these files, and packages of PyPI."""
        interpreter = Path(sys.executable).resolve()
        programs = {f"/bin/{word}": Path(shutil.which(word) or "") for word in SHELL}
        modules = tree(Path(sysconfig.get_path("stdlib")), sysconfig.get_path("stdlib"))
        bought = tree(packages, "/packages") if packages else {}
        paths = ("ENV PATH=/app:/bin", "ENV PYTHONPATH=/packages", f"ENV PYTHONHOME={sys.base_prefix}")
        everything = {**programs, "/bin/python3": interpreter, **modules, **bought, **files}
        return self.image(name, everything, *paths, *changes)

    def shell(self, *changes: str, name: str = "shell") -> str:
        programs = {f"/bin/{word}": Path(shutil.which(word) or "") for word in SHELL}
        return self.image(name, programs, *changes)


# What no program of a test imports.
LEFT_OUT = {"test", "tests", "__pycache__", "idlelib", "ensurepip", "lib2to3", "site-packages", "dist-packages", "bin"}


def tree(top: Path, place: str) -> dict[str, Path]:
    """The files of a folder of modules, by the path that they have in an image."""
    found = (path for path in top.rglob("*") if path.is_file() and path.suffix not in (".a", ".h", ".pyi"))
    return {
        f"{place}/{path.relative_to(top)}": path for path in found if not LEFT_OUT & set(path.relative_to(top).parts)
    }


# A container's own limits of open files and processes are above ours, and a test may not be allowed to raise them.
RUNTIME = """#!{python}
import json, os, sys
words = sys.argv[1:]
if "--bundle" in words:
    path = os.path.join(words[words.index("--bundle") + 1], "config.json")
    config = json.load(open(path))
    config["process"].pop("rlimits", None)
    json.dump(config, open(path, "w"))
os.execvp("runc", ["runc", *words])
"""


class Podman(Engine):
    """Podman's service, which speaks the same."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.group = "libpod_parent"

    def groups(self) -> list[Path]:
        """All of Podman's services have theirs in one place: whose one is cannot be told."""
        return []

    def start(self) -> Process:
        runtime = self.root / "runtime"
        runtime.write_text(RUNTIME.format(python=sys.executable))
        runtime.chmod(0o755)
        places = [f"--root={self.root / 'data'}", f"--runroot={self.root / 'exec'}", f"--tmpdir={self.root / 'state'}"]
        how = [f"--runtime={runtime}", "--cgroup-manager=cgroupfs", "--events-backend=file"]
        command = ["podman", *places, *how, "system", "service", "--time=0", f"unix://{self.socket}"]
        with (self.root / "log").open("wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


@contextlib.contextmanager
def podman() -> Iterator[Engine]:
    for program, package in (("podman", "podman"), ("runc", "runc"), ("docker", "docker.io")):
        if not shutil.which(program):
            raise no_engine(f"no {program} here (apt install {package})")
    with of_kind(Podman) as one:
        yield one


@contextlib.contextmanager
def engine() -> Iterator[Engine]:
    if not shutil.which("dockerd") or not shutil.which("docker"):
        raise no_engine("no Docker here (apt install docker.io)")
    with of_kind(Engine) as one:
        yield one


@contextlib.contextmanager
def of_kind(kind: type[Engine]) -> Iterator[Engine]:
    if os.geteuid() != 0:
        raise Skipped("an engine needs root")
    with tempfile.TemporaryDirectory(prefix="fathom-engine-", ignore_cleanup_errors=True) as folder:
        hand_down_controllers(GROUPS)
        one = kind(Path(folder))
        try:
            one.wait_until_up()
            before = one.state()
            yield one
            one.expect_nothing_left(before)
        finally:
            one.stop()
