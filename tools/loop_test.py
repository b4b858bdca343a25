# SPDX-License-Identifier: MIT
"""The loop itself: how tests are run side by side (tests/jobs.py), which fuzz programs a change is worth, how they are
run, and what a public host runs."""

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Dict, List, Tuple

TOP = Path(__file__).resolve().parent.parent
sys.path.append(str(TOP / "tests"))

import jobs  # noqa: E402


def write(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def spoken(name: str, log: Path, seconds: float) -> Dict[str, int]:
    write(log, f"begin {name}\n")
    for number in range(3):
        print(f"{name} {number}", flush=True)
        time.sleep(seconds / 3)
    write(log, f"end {name}\n")
    return {"passed": 1}


def hangs(folder: Path) -> Dict[str, int]:
    """Its program has a session of its own, as those of tests have; and it does not care about being told to end."""
    print("the last words", flush=True)
    program = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    (folder / "pid").write_text(str(program.pid))
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(1000)


def judged(words: str, counts: Dict[str, int]) -> Dict[str, int]:
    print(words)
    return counts


def dies() -> Dict[str, int]:
    os._exit(0)


def ran(work: List[jobs.Job], number: int) -> Tuple[Dict[str, int], str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        counts = jobs.run(work, number)
    return counts, said.getvalue()


class Jobs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"

    def job(self, name: str, seconds: float = 0.3, alone: str = "", turn: str = "") -> jobs.Job:
        return jobs.Job(name, partial(spoken, name, self.log, seconds), alone=alone, turn=turn)

    def test_outputs_do_not_mix(self) -> None:
        counts, said = ran([self.job("a"), self.job("b")], 2)
        self.assertEqual(counts, {"passed": 2, "failed": 0, "skipped": 0, "unsteady": 0})
        for name in "ab":
            self.assertIn(f"{name} 0\n{name} 1\n{name} 2\n", said)
        self.assertEqual([line.split()[0] for line in self.log.read_text().splitlines()], ["begin"] * 2 + ["end"] * 2)
        self.assertRegex(said, r"2 jobs, 2 at a time: \d\.\d s, \d\.\d s of CPU\nthe slowest:\n +\d\.\d s  [ab], \d")

    def test_alone_means_alone(self) -> None:
        ran([self.job("x", alone="why"), self.job("a"), self.job("b"), self.job("y", alone="why")], 2)
        words = self.log.read_text().split()
        self.assertEqual(words[8:], ["begin", "x", "end", "x", "begin", "y", "end", "y"])

    def test_what_hangs_is_ended_with_all_that_it_started(self) -> None:
        with unittest.mock.patch.object(jobs, "GRACE_S", 0.5):
            counts, said = ran([jobs.Job("stuck", partial(hangs, self.folder), limit=0.5), self.job("a")], 2)
        self.assertEqual((counts["passed"], counts["failed"]), (1, 1))
        self.assertIn("FAIL stuck: no end within 0.5 s; its last words:\nthe last words\n", said)
        pid = int((self.folder / "pid").read_text())
        until = time.monotonic() + 5
        while jobs.begin_of(pid) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(jobs.begin_of(pid), "")

    def test_turns_are_taken_beside_others(self) -> None:
        ran([self.job("a"), self.job("x", turn="it"), self.job("y", turn="it"), self.job("b")], 2)
        said = self.log.read_text().split("\n")
        self.assertLess(said.index("end x"), said.index("begin y"))
        self.assertLess(said.index("begin a"), said.index("end x"))
        self.assertLess(said.index("begin x"), said.index("begin b"))

    def test_who_failed_is_run_again_alone(self) -> None:
        fails = partial(judged, "FAIL first", {"passed": 0, "failed": 1, "skipped": 0})
        passes = partial(judged, "ok first", {"passed": 1, "failed": 0, "skipped": 0})
        counts, said = ran([jobs.Job("first", fails, again=passes), self.job("b")], 2)
        self.assertEqual(counts, {"passed": 1, "failed": 0, "skipped": 0, "unsteady": 1})
        self.assertIn("unsteady first; it is run again, alone\n", said)
        self.assertIn("unsteady: first failed, and passed when it was run again, alone: first\n", said)
        counts, said = ran([jobs.Job("first", fails, again=fails), self.job("b")], 2)
        self.assertEqual(counts, {"passed": 1, "failed": 1, "skipped": 0, "unsteady": 0})
        self.assertNotIn("unsteady: ", said)
        counts, said = ran([jobs.Job("first", fails, alone="why", again=passes), self.job("b")], 2)
        self.assertEqual(counts["unsteady"], 1, "whatever there was beside it")
        counts, said = ran([jobs.Job("first", fails, again=passes)], 1)
        self.assertEqual(counts["failed"], 1, "who asks for one by one is told at once")

    def test_parts_lose_nothing(self) -> None:
        for number in (0, 1, 5, 41):
            names = [f"test {n}" for n in range(number)]
            for parts in (1, 2, 6):
                dealt = [jobs.part_of(names, f"{part}/{parts}") for part in range(1, parts + 1)]
                self.assertEqual(sorted(name for part in dealt for name in part), sorted(names))
                self.assertLessEqual(max(map(len, dealt)) - min(map(len, dealt)), 1)
        self.assertEqual(jobs.part_of(["a", "b"], ""), ["a", "b"])
        for wrong in ("0/2", "3/2", "x"):
            self.assertRaises(ValueError, jobs.part_of, ["a"], wrong)

    def test_who_dies_without_a_word_has_failed(self) -> None:
        counts, said = ran([jobs.Job("gone", dies)], 1)
        self.assertEqual(counts["failed"], 1)
        self.assertIn("FAIL gone", said)

    def test_marks(self) -> None:
        @jobs.alone("it measures")
        @jobs.may_take(1000)
        def test() -> None: ...

        self.assertEqual((test.alone, test.limit), ("it measures", 1000))


def runner() -> ModuleType:
    """tests/run, which has no suffix that Python knows."""
    loader = SourceFileLoader("tests_run", str(TOP / "tests" / "run"))
    spec = importlib.util.spec_from_loader("tests_run", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Runners(unittest.TestCase):
    """Programs of other folders, and kits that no folder of the repository holds."""

    def test_kits_are_where_the_variable_says(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for kit in ("foundation", "containers", "fleet", "python"):
                (Path(name) / kit).touch()
            with unittest.mock.patch.dict(os.environ, FATHOM_KITS=name):
                kits = [job for job in runner().runners(Path("/b"), full=True) if job.name.startswith("kit ")]
                self.assertEqual(len(runner().kits_of(Path("/b"), False)), 1)
        self.assertEqual([job.name for job in kits], ["kit foundation", "kit fleet", "kit containers", "kit python"])
        self.assertTrue(all(job.alone for job in kits))
        with unittest.mock.patch.dict(os.environ, FATHOM_KITS=""):
            self.assertEqual(runner().kits_of(Path("/b"), True), [])

    def test_long_runners_are_run_in_parts(self) -> None:
        module = runner()
        with unittest.mock.patch.dict(os.environ, FATHOM_KITS=""):
            found = module.runners(Path("/b"), full=False)
        names = [job.name for job in found]
        self.assertTrue(all(job.again for job in found), "one that failed may be run again")
        self.assertEqual(len(set(names)), len(names))
        for folder, parts in module.PARTS.items():
            wanted = [f"tests/{folder}/run --part={part}/{parts}" for part in range(1, parts + 1)]
            self.assertEqual([name for name in names if name.startswith(f"tests/{folder}/")], wanted)
        self.assertIn("tests/golden/run", names)

    def test_closing_lines(self) -> None:
        for script, counts in (
            ("echo 1 passed, 1 failed; echo 3 passed, 0 failed, 2 skipped", (3, 0, 2, 0)),
            ("echo 3 passed, 0 failed, 0 skipped, 2 unsteady", (3, 0, 0, 2)),
            ("echo 3 passed, 0 failed; exit 1", (3, 1, 0, 0)),
            ("echo nothing", (0, 1, 0, 0)),
        ):
            got, said = ran([jobs.Job("x", partial(runner().run_program, ["sh", "-c", script]))], 1)
            self.assertEqual(tuple(got.values()), counts, said)

    def test_each_test_counts_once(self) -> None:
        for second, before, wanted in (
            ({"passed": 1}, 0, {"passed": 1, "unsteady": 0}),
            ({"skipped": 1}, 1, {"skipped": 0, "unsteady": 1}),
            ({"passed": 3, "failed": 1}, 2, {"passed": 2, "failed": 1, "unsteady": 1}),
            ({"passed": 3, "failed": 2}, 1, {"passed": 3, "failed": 2, "unsteady": 0}),
        ):
            got = jobs.with_unsteady(second, before)
            self.assertEqual(got, {"passed": 0, "skipped": 0, **wanted}, f"{second} after {before}")

    def test_one_that_hangs_is_ended(self) -> None:
        command = ["sh", "-c", "echo before; exec sleep 1000"]
        got, said = ran([jobs.Job("x", partial(runner().run_program, command), limit=0.5)], 1)
        self.assertEqual(got["failed"], 1)
        self.assertRegex(said, r"FAIL x: no end within 0.5 s; its last words:\n== sh -c [^\n]*\nbefore\n")


class Repository(unittest.TestCase):
    """One of a few files."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        (self.top / "tools").mkdir()
        for name in ("fuzz.sh", "sources.sh"):
            shutil.copy(TOP / "tools" / name, self.top / "tools" / name)
        self.change("src/trace/deep/log_fuzz.cc", "src/sql/guard_fuzz.cc", "src/base/text_fuzz.cc", "README.md")
        self.git("init", "-q", "-b", "main")
        self.commit()

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=self.top, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")

    def change(self, *names: str) -> None:
        for name in names:
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            write(self.top / name, "more\n")


class Touched(Repository):
    """What --touched chooses."""

    def chosen(self, **more: str) -> List[str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "FATHOM_BASE"))}
        command = ["tools/fuzz.sh", "--list", "--touched"]
        done = subprocess.run(command, cwd=self.top, env={**env, **more}, check=True, capture_output=True, text=True)
        return done.stdout.split()

    def test_nothing_can_be_told(self) -> None:
        self.assertEqual(self.chosen(), ["guard_fuzz", "log_fuzz", "text_fuzz"])
        self.assertEqual(self.chosen(FATHOM_BASE="nonsense"), ["guard_fuzz", "log_fuzz", "text_fuzz"])

    def test_rooms(self) -> None:
        self.change("src/trace/x.cc")
        self.commit()
        self.assertEqual(self.chosen(), ["log_fuzz"])
        self.change("README.md")
        self.commit()
        self.assertEqual(self.chosen(), [])
        self.assertEqual(self.chosen(FATHOM_BASE="HEAD~2"), ["log_fuzz"])
        self.git("update-ref", "refs/remotes/origin/main", "HEAD~2")
        self.assertEqual(self.chosen(), ["log_fuzz"])

    def test_on_the_main_line_since_the_last_merge(self) -> None:
        self.git("checkout", "-q", "-b", "side")
        self.change("src/sql/y.cc")
        self.commit()
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merged", "side")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertEqual(self.chosen(), ["guard_fuzz"])  # a merge is judged whole
        for name in ("src/trace/x.cc", "README.md"):
            self.change(name)
            self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertEqual(self.chosen(), ["log_fuzz"])

    def test_not_committed_yet_and_seeds(self) -> None:
        self.change("README.md")
        self.commit()
        self.change("src/sql/new.cc", "tests/fuzz/corpus/log/seed")
        self.assertEqual(self.chosen(), ["guard_fuzz", "log_fuzz"])

    def test_what_is_in_all_of_them(self) -> None:
        self.change("src/base/text.h")
        self.commit()
        self.assertEqual(len(self.chosen()), 3)


FUZZER = """#!/bin/bash
echo "begin $0" >> log
sleep 0.5
echo "end $0" >> log
echo "stat::number_of_executed_units: 7"
[[ $0 != *guard* ]] || { echo "a finding"; exit 77; }
"""


class Linted(Repository):
    """Which files clang-tidy reads."""

    def read(self) -> List[str]:
        command = ["bash", "-c", ". tools/sources.sh; changed_cxx_sources"]
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "FATHOM_BASE"))}
        done = subprocess.run(command, cwd=self.top, env=env, check=True, capture_output=True, text=True)
        return done.stdout.split()

    def test_a_header_is_read_by_a_file_that_includes_it(self) -> None:
        for name, include in (
            ("src/sql/own.cc", '#include "sql/own.h"'),
            ("src/sql/a.cc", '#include "sql/own.h"'),
            ("src/trace/outer.h", '#include "trace/inner.h"'),
            ("src/trace/user.cc", '#include "trace/outer.h"'),
            ("src/trace/inner_test.cc", '#include "trace/inner.h"'),
            ("src/trace/table.guest.cc", '#define TABLE "trace/x.calls.h"'),
        ):
            write(self.top / name, include + "\n")
        self.change("src/trace/inner.h", "src/sql/own.h", "src/trace/x.calls.h", "src/trace/nobody.h")
        self.commit()
        self.change("README.md")
        self.commit()
        self.assertEqual(self.read(), [])
        self.change("src/trace/inner.h")
        self.assertEqual(self.read(), ["src/trace/user.cc"])
        self.change("src/sql/own.h", "src/trace/x.calls.h", "src/trace/nobody.h", "src/sql/own_test.cc")
        self.assertEqual(self.read(), ["src/sql/own.cc", "src/trace/table.guest.cc", "src/trace/user.cc"])


class Fuzzers(Repository):
    """With programs that only look like fuzzers."""

    def script(self, name: str, text: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def test_two_at_a_time(self) -> None:
        for name in ("tools/setup.sh", "bin/cmake", "bin/clang++"):
            self.script(name, "#!/bin/sh\n")
        self.script("bin/nproc", "#!/bin/sh\necho 8\n")
        self.change("src/trace/more_fuzz.cc")
        for name in ("log", "guard", "text", "more"):
            self.script(f"build-fuzz/fuzz/{name}_fuzz", FUZZER)
        env = {**os.environ, "PATH": f"{self.top / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["tools/fuzz.sh", "1"], cwd=self.top, env=env, capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "3 passed, 1 failed"), done.stderr)
        self.assertIn("a finding\nfuzz: guard FAILED; the input is build-fuzz/found/guard-*\n", done.stdout)
        self.assertIn("fuzz: more ok, 7 runs in 1 s\n", done.stdout)
        at_a_time = most = 0
        for line in (self.top / "log").read_text().splitlines():
            at_a_time += 1 if line.startswith("begin") else -1
            most = max(most, at_a_time)
        self.assertEqual((at_a_time, most), (0, 2))


class Workflow(unittest.TestCase):
    """What a public host runs is what everybody types."""

    def test_commands(self) -> None:
        try:
            import yaml
        except ImportError:
            self.skipTest("PyYAML is not installed (Debian: python3-yaml)")
        text = (TOP / ".github" / "workflows" / "ci.yml").read_text()
        (job,) = yaml.safe_load(text)["jobs"].values()
        self.assertEqual(job["container"]["options"], "--privileged", "an engine starts in no other container")
        self.assertTrue(all(("run" in step) != ("uses" in step) for step in job["steps"]), job["steps"])
        commands = [step["run"] for step in job["steps"] if "run" in step]
        self.assertEqual(commands[-2:], ["./dev test", "./dev demo"])
        for action in (step["uses"] for step in job["steps"] if "uses" in step):
            self.assertRegex(action, "@[0-9a-f]{40}$", "a tag can be moved")


if __name__ == "__main__":
    unittest.main()
