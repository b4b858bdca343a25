# SPDX-License-Identifier: MIT
"""./dev mutate: what is broken and what is left alone, and a tiny room whose mutants end in every way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import List, Set, Tuple

import mutant_build
import mutants
import mutate

TOP = Path(__file__).resolve().parent.parent


def broken_lines(text: str) -> Set[Tuple[str, str]]:
    return {(mutant.rule, mutant.after.strip()) for mutant in mutants.mutants_of("x.cc", text)}


class Rules(unittest.TestCase):
    def check(self, line: str, *expected: Tuple[str, str]) -> None:
        self.assertEqual(broken_lines(line), set(expected))

    def test_comparisons_and_conditions(self) -> None:
        self.check("while (a < b)", ("comparison", "while (a >= b)"), ("boundary", "while (a <= b)"))
        self.check("if (a == b) f(x,", ("comparison", "if (a != b) f(x,"))
        self.check("if (ready(x)) {", ("condition", "if (!(ready(x))) {"))
        self.check("if (auto x = f(); x) {", ("condition", "if (auto x = f(); !(x)) {"))
        self.check("if (const auto* x = f()) {")
        self.check("if (!a && b) {", ("not", "if (a && b) {"), ("logic", "if (!a || b) {"))

    def test_arithmetic_and_returns(self) -> None:
        self.check("int x = a + b * 2;", ("arithmetic", "int x = a - b * 2;"), ("arithmetic", "int x = a + b / 2;"))
        self.check("return true;", ("return", "return false;"))
        self.check("if (x) return;", ("condition", "if (!(x)) return;"), ("jump", "if (x) ;"))
        self.check("continue;", ("jump", ";"))

    def test_statements(self) -> None:
        self.check("  log_->close(a, {b});", ("call", ";"))
        self.check("  FATHOM_TRY(write(a));", ("call", ";"))
        self.check("  x.y[2] = f(a);", ("assignment", ";"))
        self.check("  File file(name);")
        self.check("  const int x = f(a);")
        self.assertEqual(broken_lines("  f(a,\n    g(b), c);"), set())
        self.assertEqual(broken_lines("  const auto x =\n    g(b);"), set())

    def test_left_alone(self) -> None:
        for line in (
            "// if (a < b) return true;",
            "#if A == 2 && B",
            'text = "a < b && c" "!x",',
            "std::map<int, std::vector<char>> m{};",
            "template <class T>",
            "static_assert(sizeof(x) == 8);",
            "assert(a < b);",
            'return "about " + name + ".";',
            "char c{'<'};  // a < b",
            "bool operator==(const A& b) const = default;",
            "void take(A&& a, const B& b,",
        ):
            self.check(line)
        self.assertEqual(broken_lines('x{R"sql(\nWHERE a < b\n)sql"},\n/* a < b\n a && b */'), set())

    def test_only_its_line_changes(self) -> None:
        text = 'a < b\n// a < b\n  c && d  // ü "<\n'
        for mutant in mutants.mutants_of("x.cc", text):
            lines = mutants.broken(text, mutant).split("\n")
            self.assertEqual(lines.pop(mutant.line - 1), mutant.after)
            same = text.split("\n")
            self.assertEqual(same.pop(mutant.line - 1), mutant.before)
            self.assertEqual(lines, same)

    def test_samples(self) -> None:
        all_of_them = mutants.mutants_of("x.cc", "f(a + b);\n" * 50)
        some = mutate.sample_of(all_of_them, 10, 1)
        self.assertEqual(len(set(some)), 10)
        self.assertEqual(some, mutate.sample_of(all_of_them, 10, 1))
        self.assertNotEqual(some, mutate.sample_of(all_of_them, 10, 2))
        self.assertEqual(mutate.sample_of(all_of_them, 0, 1), all_of_them)


CODE = """bool large(int n) { return n > 10; }
int halves(int n) {
  int count = 0;
  while (n != 0) {
    n = n / 2;
    count += 1;
  }
  return count;
}
#ifdef NEVER
bool never(int a, int b) { return a && b; }
#endif
long length(const char* a, const char* b) { return b - a; }
"""
TEST = """bool large(int);
int halves(int);
int main() { return large(50) && !large(1) && halves(8) == 4 ? 0 : 1; }
"""
MAIN = """bool large(int);
int main() { return large(10) ? 1 : 0; }
"""
GOLDEN = """#!/bin/sh
exec "$FATHOM_BUILD/fathom"
"""
NINJA = """rule cxx
  command = c++ -o $out -c $in
rule archive
  command = : && ar qc $out $in && ranlib $out && :
rule link
  command = c++ $in -o $out
build tiny.o: cxx ../src/tiny/tiny.cc
build tiny_test.o: cxx ../src/tiny/tiny_test.cc
build libtiny.a: archive tiny.o
build tiny_test: link tiny_test.o libtiny.a
build main.o: cxx ../src/main.cc
build fathom: link main.o libtiny.a
"""


def can_fence() -> bool:
    with tempfile.TemporaryDirectory() as name:
        command = mutant_build.fenced(Path(name), ["true"])
        return mutant_build.Processes().run(command, 10, Path(name)).status == 0


@unittest.skipUnless(can_fence(), "no namespaces here")
class TinyRoom(unittest.TestCase):
    """A room of one file, built by ninja as the real ones are."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for name in ("tools", "build", "src/tiny", "tests/golden"):
            (self.top / name).mkdir(parents=True)
        for name in ("mutate.py", "mutants.py", "mutant_build.py", "namespaces.py", "units.py"):
            shutil.copy(TOP / "tools" / name, self.top / "tools" / name)
        (self.top / "src/tiny/tiny.cc").write_text(CODE)
        (self.top / "src/tiny/tiny_test.cc").write_text(TEST)
        (self.top / "src/main.cc").write_text(MAIN)
        (self.top / "tests/golden/run").write_text(GOLDEN)
        (self.top / "tests/golden/run").chmod(0o755)
        (self.top / "build/build.ninja").write_text(NINJA)
        source = str(self.top / "src/tiny/tiny.cc")
        commands = [{"command": f"c++ -o tiny.o -c {source}", "file": source}]
        (self.top / "build/compile_commands.json").write_text(json.dumps(commands))

    def command(self, *words: str) -> List[str]:
        return [sys.executable, "-B", str(self.top / "tools/mutate.py"), *words]

    def mutate(self, *words: str) -> "subprocess.CompletedProcess[str]":
        env = {key: value for key, value in os.environ.items() if key != "FATHOM_BUILD"}
        return subprocess.run(self.command(*words), env=env, check=False, capture_output=True, text=True)

    def test_every_outcome(self) -> None:
        done = self.mutate("tiny", "--sample", "0", "--limit", "5", "--fail-above", "0.2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        place = "src/tiny/tiny.cc"
        for line in (
            f"SURVIVED  {place}:1: boundary\n    - bool large(int n) {{ return n > 10; }}",
            f"killed    {place}:1: comparison",
            f"timeout   {place}:5: assignment",
            f"same code {place}:11: logic",
            f"no C++    {place}:13: arithmetic",
        ):
            self.assertIn(line, done.stdout)
        self.assertRegex(done.stdout, r"\nsrc/tiny +5 +3 +1 +1 +1 +1\n")
        self.assertIn("5 mutants, 4 noticed, 1 survived (20%)", done.stdout)
        self.assertIn(f"./dev mutate --file {place} --sample 0", done.stdout)
        self.assertEqual((self.top / place).read_text(), CODE)
        self.assertFalse((self.top / "build/mutate").exists())

    def test_survivors_are_held_against_exact_outputs(self) -> None:
        words = ("tiny", "--sample", "0", "--limit", "5", "--golden")
        done = self.mutate(*words)
        self.assertIn("killed    src/tiny/tiny.cc:1: boundary", done.stdout)
        self.assertIn("5 mutants, 5 noticed, 0 survived (0%)", done.stdout)
        (self.top / "tests/golden/run").write_text("#!/bin/sh\nexit 1\n")
        done = self.mutate(*words)
        self.assertEqual(done.returncode, 3)
        self.assertIn("tests/golden/run fails before anything is broken", done.stderr)

    def test_share_and_list(self) -> None:
        one = ("--file", "src/tiny/tiny.cc", "--sample", "1", "--seed", "14")
        listed = self.mutate("--list", *one)
        self.assertEqual((listed.returncode, listed.stdout.split("\n")[0]), (0, "src/tiny/tiny.cc:1: boundary"))
        self.assertEqual(self.mutate("--fail-above", "0.9", *one).returncode, 1)

    def test_what_cannot_be_tried(self) -> None:
        (self.top / "src/tiny/tiny_test.cc").write_text("int main() { return 1; }\n")
        done = self.mutate("tiny")
        self.assertEqual(done.returncode, 3)
        self.assertIn("tiny_test fails before anything is broken", done.stderr)
        self.assertIn("there is no src/nowhere", self.mutate("nowhere").stderr)

    def test_interrupted(self) -> None:
        """In the middle of a mutant that never ends: what was tried is told, and nothing stays behind."""
        words = self.command("tiny", "--sample", "0", "--limit", "600", "--jobs", "1")
        # A shell's jobs in the background ignore it, and so would this one.
        process = subprocess.Popen(
            ["env", "--default-signal=INT", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.addCleanup(process.kill)
        assert process.stdout
        said = ""
        while "tiny.cc:1: comparison" not in said:
            said += process.stdout.readline() or self.fail(said)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
        self.assertIn("mutate: stopped", rest)
        self.assertEqual(process.returncode, 130, rest)
        self.assertFalse((self.top / "build/mutate").exists())

    def test_the_fence(self) -> None:
        """A broken program sees no other process, and can write to its own folder alone."""
        own = self.top / "own"
        own.mkdir()
        script = f"touch {own}/x /tmp/y; kill -0 {os.getpid()} && echo seen; touch {self.top}/z {TOP}/z && echo wrote"
        ended = mutant_build.Processes().run(mutant_build.fenced(own, ["sh", "-c", script]), 10, own)
        self.assertNotIn("seen", ended.output)
        self.assertNotIn("wrote", ended.output)
        self.assertTrue((own / "x").exists())
        self.assertFalse(Path("/tmp/y").exists() or (self.top / "z").exists() or (TOP / "z").exists())


if __name__ == "__main__":
    unittest.main()
