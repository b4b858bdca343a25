# SPDX-License-Identifier: MIT
"""How a broken file becomes a test program: one compilation at -O0, and the program's own link with that object in it.

What the release build made is used and not changed. All that is written lies in one scratch folder.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple

import units

ROOT = Path(__file__).resolve().parent.parent
NOT_MUTATED = ("_test.cc", "_fuzz.cc", "_bench.cc")
MOST_MEMORY = 8 << 30
MOST_FILE = 1 << 30

# A broken program may do anything: signal every process, remove what it finds. It runs where it sees its own processes
# alone, and can write to its own folder and to empty folders for temporary files. The shell stays as process 1, which
# would ignore signals.
FENCE = """
top=$1 own=$2
shift 2
exec 3<"$top" 4<"$own"
while read -r _ place kind _; do
  if [ "$kind" != proc ]; then mount -o remount,bind,ro "$place" 2>/dev/null; fi
done </proc/self/mounts
mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && mount -t tmpfs none /dev/shm && mkdir -p "$top" "$own" &&
  mount --no-canonicalize --bind /proc/self/fd/3 "$top" && mount --no-canonicalize --bind /proc/self/fd/4 "$own" &&
  mount -o remount,bind,rw "$own" && cd "$own" || exit 125
exec 3<&- 4<&-
"$@"
exit $?
"""
FENCE_FAILED = 125


@dataclass
class Ended:
    status: int
    output: str
    overdue: bool = False


class Processes:
    """Runs programs and can end all of them, from another thread, when the user presses Ctrl-C."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: Set[subprocess.Popen[str]] = set()
        self.stopped = False

    def run(self, command: List[str], limit_s: float, cwd: Path, env: Optional[Dict[str, str]] = None) -> Ended:
        with self.lock:
            if self.stopped:
                return Ended(-signal.SIGINT, "")
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=limit_s)
            return Ended(process.returncode, output)
        except subprocess.TimeoutExpired:
            end(process)
            return Ended(process.wait(), "", overdue=True)
        finally:
            with self.lock:
                self.running.discard(process)

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.running:
                end(process)


def end(process: "subprocess.Popen[str]") -> None:
    """Its group, which is its own; what is behind the fence ends with the process that made it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def fenced(own: Path, command: List[str]) -> List[str]:
    rights: List[str] = []
    if os.geteuid() != 0:  # a user namespace gives the rights to make the others; the program does not get them
        rights = ["--user", "--map-current-user", "--keep-caps"]
        command = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", *command]
    # A shell's background job ignores Ctrl-C; some tests want to know that they do not.
    limits = ["env", "--default-signal", "--ignore-signal=XFSZ"]
    limits += ["prlimit", f"--data={MOST_MEMORY}", f"--fsize={MOST_FILE}", "--core=0"]
    spaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*limits, "unshare", *rights, *spaces, "sh", "-c", FENCE, "fence", str(ROOT), str(own), *command]


@dataclass
class Program:
    """A test program, or `fathom`: how it is linked, and from which objects."""

    name: str
    link: List[str]
    archives: Dict[str, List[str]] = field(default_factory=dict)  # the room's library, and its objects

    def objects(self) -> Set[str]:
        return {word for words in [self.link, *self.archives.values()] for word in words if word.endswith(".o")}


def program_of(build: Path, target: str) -> Program:
    """From what ninja would run to make it."""
    command = ["ninja", "-C", str(build), "-t", "commands", target]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    archives: Dict[str, List[str]] = {}
    for line in lines:
        words = shlex.split(line)
        for at, word in enumerate(words):
            if word == "qc" and words[at - 1].endswith("ar"):
                rest = words[at + 1 :]
                archives[rest[0]] = rest[1 : rest.index("&&")] if "&&" in rest else rest[1:]
    link = [word for word in shlex.split(lines[-1]) if word not in (":", "&&")]
    return Program(target, link, {name: archives[name] for name in archives if name in link})


def compilations(build: Path) -> Dict[str, Tuple[str, List[str]]]:
    """For each object of the build its source and the command that makes it."""
    made = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        made[words[words.index("-o") + 1]] = (entry["file"], words)
    return made


def sources_of(build: Path, room: str, program: Program) -> Dict[str, str]:
    """The room's files that the program is made of, from the repository's root, each with its object."""
    found = {}
    objects = program.objects()
    for made, (source, _) in compilations(build).items():
        for path in map(Path, units.parts_of(source) if made in objects else []):
            if ROOT / "src" / room in path.parents and not path.name.endswith(NOT_MUTATED):
                found[str(path.relative_to(ROOT))] = made
    return found


class Workshop:
    """Compiles and links in a folder of its own; one for each thread."""

    def __init__(self, build: Path, place: Path, processes: Processes) -> None:
        self.build, self.place, self.processes = build, place, processes
        self.commands = compilations(build)
        for name in ("tmp", "bin"):
            (place / name).mkdir(parents=True, exist_ok=True)
        duckdb = build / "libduckdb.so"
        if duckdb.exists() and not (place / "bin" / duckdb.name).is_symlink():
            (place / "bin" / duckdb.name).symlink_to(duckdb.resolve())

    def compile(self, made: str, file: str, text: str) -> Optional[Path]:
        """The object with that text in place of the file's, or None if it is no C++."""
        source, words = self.commands[made]
        own = self.place / Path(file).name
        own.write_text(text)
        if Path(source) != ROOT / file:  # a unit, which includes it
            unit = Path(source).read_text().replace(f'"{ROOT / file}"', f'"{own}"')
            own = self.place / Path(source).name
            own.write_text(unit)
        to = self.place / made.replace("/", "_")
        to.unlink(missing_ok=True)
        words = list(words)
        words[words.index("-o") + 1], words[words.index("-c") + 1] = str(to), str(own)
        command = [*words, "-O0", "-w", f"-ffile-prefix-map={self.place}=."]
        return to if self.processes.run(command, 300, self.build).status == 0 else None

    def link(self, program: Program, replaced: Dict[str, Path]) -> Optional[Path]:
        """The program with some of its objects replaced; None if it cannot be linked."""
        to = self.place / "bin" / program.name
        words = [str(replaced.get(word, word)) for word in program.link]
        for name, objects in program.archives.items():
            if replaced.keys() & set(objects):
                own = self.place / Path(name).name
                own.unlink(missing_ok=True)
                inside = [str(replaced.get(word, self.build / word)) for word in objects]
                self.processes.run(["ar", "qcs", "--thin", str(own), *inside], 60, self.build)
                words = [str(own) if word == name else word for word in words]
        words[words.index("-o") + 1] = str(to)
        return to if self.processes.run(words, 300, self.build).status == 0 else None

    def test(self, program: Path, limit_s: float) -> Ended:
        """The unit tests, until the first that fails."""
        own = {"TEST_TMPDIR": f"{self.place}/tmp", "FATHOM_BUILD": str(self.build)}
        words = [str(program), "--gtest_brief=1", "--gtest_fail_fast"]
        return self.processes.run(fenced(self.place, words), limit_s, self.build, {**os.environ, **own})

    def golden(self, program: Path, limit_s: float) -> Ended:
        """The exact outputs of a broken `fathom`."""
        own = {"TMPDIR": f"{self.place}/tmp", "FATHOM_BUILD": str(program.parent)}
        words = [str(ROOT / "tests" / "golden" / "run"), "--failures"]
        return self.processes.run(fenced(self.place, words), limit_s, self.build, {**os.environ, **own})
