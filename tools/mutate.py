#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break one line of a room's C++ at a time, and list the breaks that no unit test of the room notices.

Your files are not touched: a broken copy is compiled in build/mutate and linked with the objects of the release build.
It runs in namespaces of its own, where it sees no other process and can write nowhere else. Save no file of the
room meanwhile.
"""

import argparse
import contextlib
import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Dict, Iterable, Iterator, List, Optional, Tuple

from mutant_build import FENCE_FAILED, ROOT, Processes, Program, Workshop, program_of, sources_of
from mutants import Mutant, broken, mutants_of

KILLED, TIMEOUT, NOT_COMPILED, SAME, SURVIVED = "killed", "timeout", "no C++", "same code", "SURVIVED"
OUTCOMES = (KILLED, TIMEOUT, NOT_COMPILED, SAME, SURVIVED)
GOLDEN_LIMIT_S = 600


class Failure(Exception):
    """Nothing could be tried; its words say why."""


@dataclass
class Room:
    name: str
    program: Program
    sources: Dict[str, str]  # files that can be broken, each with its object
    texts: Dict[str, str]  # as they were at the beginning

    def mutants(self, within: List[str]) -> List[Mutant]:
        wanted = [file for file in sorted(self.texts) if any(is_below(file, name) for name in within)]
        return [mutant for file in wanted for mutant in mutants_of(file, self.texts[file])]


# A room, the mutants to be tried, and how many there would be.
Plan = Tuple[Room, List[Mutant], int]


@dataclass
class Tried:
    mutant: Mutant
    outcome: str


def is_below(file: str, name: str) -> bool:
    return file == name or file.startswith(name.rstrip("/") + "/")


def wanted_rooms(words: List[str], files: List[str]) -> Dict[str, List[str]]:
    """Rooms by name, each with the folders and files of it that are meant."""
    rooms: Dict[str, List[str]] = {}
    for word in [f"src/{word}" for word in words] + files:
        path = Path(os.path.normpath(word))
        if path.is_absolute():
            path = path.relative_to(ROOT)
        if not (ROOT / path).exists() or path.parts[0] != "src" or len(path.parts) < 2:
            raise Failure(f"there is no {path} below src/")
        rooms.setdefault(path.parts[1], []).append(str(path))
    return rooms


def room_of(build: Path, name: str) -> Room:
    if not any((ROOT / "src" / name).rglob("*_test.cc")):
        raise Failure(f"src/{name} has no unit tests of its own")
    program = program_of(build, f"{name}_test")
    sources = sources_of(build, name, program)
    return Room(name, program, sources, {file: (ROOT / file).read_text() for file in sources})


def sample_of(mutants: List[Mutant], number: int, seed: int) -> List[Mutant]:
    """In the order of the files; a number of 0 means all."""
    if 0 < number < len(mutants):
        chosen = sorted(random.Random(seed).sample(range(len(mutants)), number))
        return [mutants[index] for index in chosen]
    return mutants


class Trial:
    """One room: the program as it is, then each mutant. Workshops are taken by whichever thread is next."""

    def __init__(self, room: Room, workshops: List[Workshop], golden: Optional[Program], limit_s: int) -> None:
        self.room, self.golden, self.processes = room, golden, workshops[0].processes
        self.free: Queue[Workshop] = Queue()
        for workshop in workshops:
            self.free.put(workshop)
        self.plain: Dict[str, bytes] = {}  # objects of files that are not broken
        self.limit_s = float(limit_s)

    @contextlib.contextmanager
    def workshop(self) -> Iterator[Workshop]:
        workshop = self.free.get()
        try:
            yield workshop
        finally:
            shutil.rmtree(workshop.place / "tmp", ignore_errors=True)
            (workshop.place / "tmp").mkdir(exist_ok=True)
            self.free.put(workshop)

    def begin(self, files: Iterable[str]) -> float:
        """The tests must pass with these files compiled as mutants are, but not broken. Returns how long they take."""
        replaced = {}
        with self.workshop() as workshop:
            for file in files:
                made = self.room.sources[file]
                compiled = workshop.compile(made, file, self.room.texts[file])
                if compiled is None:
                    raise Failure(f"{file} does not compile as it is")
                self.plain[file] = compiled.read_bytes()
                replaced[made] = compiled
            program = workshop.link(self.room.program, replaced)
            if program is None:
                raise Failure(f"{self.room.program.name} cannot be linked")
            begin = time.monotonic()
            ended = workshop.test(program, 900)
            seconds = time.monotonic() - begin
        if ended.status == FENCE_FAILED:
            raise Failure(f"no namespaces for broken programs here: {ended.output.strip()}")
        if ended.status != 0:
            raise Failure(f"{self.room.program.name} fails before anything is broken:\n{ended.output[-4000:]}")
        with self.workshop() as workshop:
            if self.golden and self.outputs(workshop, replaced) != SURVIVED:
                raise Failure("tests/golden/run fails before anything is broken")
        self.limit_s = self.limit_s or 10 + 4 * seconds
        return seconds

    def attempt(self, mutant: Mutant) -> Tried:
        with self.workshop() as workshop:
            made = self.room.sources[mutant.file]
            compiled = workshop.compile(made, mutant.file, broken(self.room.texts[mutant.file], mutant))
            if compiled is None:
                return Tried(mutant, NOT_COMPILED)
            if compiled.read_bytes() == self.plain[mutant.file]:
                return Tried(mutant, SAME)
            program = workshop.link(self.room.program, {made: compiled})
            if program is None:
                return Tried(mutant, NOT_COMPILED)
            ended = workshop.test(program, self.limit_s)
            if ended.overdue:
                return Tried(mutant, TIMEOUT)
            if ended.status == 0 and self.golden:
                return Tried(mutant, self.outputs(workshop, {made: compiled}))
            return Tried(mutant, SURVIVED if ended.status == 0 else KILLED)

    def outputs(self, workshop: Workshop, replaced: Dict[str, Path]) -> str:
        """What the exact outputs of tests/golden say."""
        program = self.golden and workshop.link(self.golden, replaced)
        if program is None:
            return NOT_COMPILED
        ended = workshop.golden(program, GOLDEN_LIMIT_S)
        return TIMEOUT if ended.overdue else SURVIVED if ended.status == 0 else KILLED


def shown(mutant: Mutant) -> str:
    head = f"{mutant.file}:{mutant.line}: {mutant.rule}"
    return f"{head}\n    - {mutant.before.strip()}\n    + {mutant.after.strip()}"


def progress(done: int, total: int, tried: Tried) -> None:
    mutant = tried.mutant
    place = shown(mutant) if tried.outcome == SURVIVED else f"{mutant.file}:{mutant.line}: {mutant.rule}"
    print(f"[{done}/{total}] {tried.outcome:9} {place}", flush=True)


def run_room(trial: Trial, chosen: List[Mutant], jobs: int, tried: List[Tried]) -> None:
    """Adds to `tried` as outcomes come, so that they are there when somebody presses Ctrl-C."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(trial.attempt, mutant) for mutant in chosen]
        try:
            for done, future in enumerate(futures, 1):
                tried.append(future.result())
                progress(done, len(chosen), tried[-1])
        except BaseException:
            for future in futures:
                future.cancel()
            trial.processes.stop()
            raise


def table(tried: List[Tried]) -> str:
    """By file and by room. Only what was compiled and differs counts as a mutant."""
    counts: Dict[Tuple[str, str], Counter] = {}
    for one in tried:
        room = "/".join(Path(one.mutant.file).parts[:2])
        for key in ((room, one.mutant.file), (room, "")):
            counts.setdefault(key, Counter())[one.outcome] += 1
    width = max((len(file or room) for room, file in counts), default=4) + 2
    heads = ("mutants", "by tests", "by timeout", "survived", "no C++", "same code")
    lines = ["".ljust(width) + "  ".join(heads)]
    for room, file in sorted(counts, key=lambda key: (key[0], key[1] == "", key[1])):
        count = counts[room, file]
        cells = (real(count), count[KILLED], count[TIMEOUT], count[SURVIVED], count[NOT_COMPILED], count[SAME])
        row = "  ".join(str(cell).rjust(len(head)) for cell, head in zip(cells, heads))
        lines.append((file or room).ljust(width) + row)
    return "\n".join(lines)


def real(count: Counter) -> int:
    return count[KILLED] + count[TIMEOUT] + count[SURVIVED]


def report(tried: List[Tried], options: argparse.Namespace) -> int:
    survivors = [one.mutant for one in tried if one.outcome == SURVIVED]
    if survivors:
        print("\n== no test notices:")
        print("\n".join(shown(mutant) for mutant in survivors))
    print(f"\n{table(tried)}")
    total = real(Counter(one.outcome for one in tried))
    share = len(survivors) / total if total else 0.0
    print(f"\n{total} mutants, {total - len(survivors)} noticed, {len(survivors)} survived ({share:.0%})")
    if survivors:
        file, _ = Counter(mutant.file for mutant in survivors).most_common(1)[0]
        print(f"next: write a test that fails for a line above, then ./dev mutate --file {file} --sample 0")
    else:
        print(f"next: other lines, ./dev mutate {' '.join(options.rooms)} --seed {options.seed + 1}".replace("  ", " "))
    return 1 if options.fail_above is not None and share > options.fail_above else 0


def parsed(words: List[str]) -> argparse.Namespace:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__, formatter_class=style)
    add, number = parser.add_argument, partial(parser.add_argument, metavar="N", type=int)
    add("rooms", nargs="*", metavar="ROOM", help="trace, or a part of it: trace/spool (default: the changed ones)")
    add("--file", action="append", default=[], metavar="PATH", help="break this file; may be repeated")
    number("--sample", default=40, help="mutants of each room, chosen at random (default %(default)s); 0: all")
    number("--seed", default=1, help="another seed chooses other lines (default 1)")
    number("--jobs", default=os.cpu_count() or 1, help="mutants side by side (default: cores)")
    number("--limit", default=0, help="seconds that a mutant's tests may take (default: 10, and four times their own)")
    add("--list", action="store_true", help="print what would be broken, and break nothing")
    add("--golden", action="store_true", help="hold survivors against tests/golden, too (slow)")
    add("--fail-above", type=float, metavar="SHARE", help="exit with 1 if a larger share survives (0.2: a fifth)")
    return parser.parse_args(words)


def changed_rooms() -> List[str]:
    """As ./dev quick sees them: those with tests of their own."""
    command = ["bash", "-c", ". tools/sources.sh; changed_rooms"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if any((ROOT / "src" / name).rglob("*_test.cc"))]


@contextlib.contextmanager
def scratch(build: Path) -> Iterator[Path]:
    """One at a time; what a run before left behind is removed."""
    with (build / "mutate.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("another ./dev mutate is at work in this build folder") from None
        place = build / "mutate"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def make(build: Path, targets: List[str]) -> None:
    print(f"== build: {' '.join(targets)}", flush=True)
    if subprocess.run(["ninja", "-C", str(build), *targets], check=False).returncode != 0:
        raise Failure("the build fails before anything is broken")


def try_all(build: Path, plans: List[Plan], options: argparse.Namespace, tried: List[Tried]) -> None:
    golden = program_of(build, "fathom") if options.golden else None
    processes = Processes()
    jobs = max(1, options.jobs)
    with scratch(build) as place:
        workshops = [Workshop(build, place / str(number), processes) for number in range(jobs)]
        for room, chosen, of in plans:
            trial = Trial(room, workshops, golden, options.limit)
            print(f"== mutate: {room.name}, {len(chosen)} of {of} mutants, seed {options.seed}", flush=True)
            seconds = trial.begin(sorted({mutant.file for mutant in chosen}))
            print(f"== the tests take {seconds:.1f} s; a mutant has {trial.limit_s:.0f} s", flush=True)
            run_room(trial, chosen, jobs, tried)


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def planned(build: Path, options: argparse.Namespace) -> List[Plan]:
    wanted = wanted_rooms(options.rooms, options.file)
    if not options.list:
        make(build, [f"{name}_test" for name in wanted] + ["fathom"] * options.golden)
    plans = []
    for name, within in wanted.items():
        room = room_of(build, name)
        mutants = room.mutants(within)
        if not mutants:
            raise Failure(f"nothing in {', '.join(within)} can be broken: {room.program.name} has none of it")
        plans.append((room, sample_of(mutants, options.sample, options.seed), len(mutants)))
    return plans


def main(words: List[str]) -> int:
    options = parsed(words)
    build = Path(os.environ.get("FATHOM_BUILD", ROOT / "build")).resolve()
    tried: List[Tried] = []
    signal.signal(signal.SIGTERM, interrupt)
    try:
        if not options.rooms and not options.file:
            options.rooms = changed_rooms()
        if not options.rooms and not options.file:
            raise Failure("no room with tests has changed; name one, as in ./dev mutate trace/spool")
        plans = planned(build, options)
        if options.list:
            print("\n".join(shown(mutant) for _, chosen, _ in plans for mutant in chosen))
            return 0
        try_all(build, plans, options, tried)
        return report(tried, options)
    except Failure as failure:
        print(f"mutate: {failure}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("\nmutate: stopped", flush=True)
        if tried:
            report(tried, options)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
