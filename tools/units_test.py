# SPDX-License-Identifier: MIT
"""Files are compiled together only where no name of theirs means anything else than alone."""

import json
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, Sequence, Set

import units


def code(own: str = "", use: str = "", head: str = "") -> str:
    return (
        f"{head}\nnamespace fathom {{\nnamespace {{\n\n{own}\n\n}}  // namespace\n\n{use}\n\n}}  // namespace fathom\n"
    )


class Units(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.src = Path(folder.name) / "src"

    def units(self, before: Sequence[Set[str]] = (), **files: str) -> List[List[str]]:
        for name, text in files.items():
            path = self.src / "room" / (name if "." in name else f"{name}.cc")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        headers = units.Headers(self.src)
        members = [units.File(name, text, headers) for name, text in files.items() if "." not in name]
        return [[file.name for file in unit] for unit in units.units_of(members, headers, list(before))]

    def test_files_that_share_no_name_are_compiled_together(self) -> None:
        self.assertEqual(self.units(a=code("int first() { return 1; }"), b=code("int second = 2;")), [["a", "b"]])

    def test_an_own_name_that_another_file_says_separates_them(self) -> None:
        for own in (
            "int number(int n) { return n; }",
            "std::vector<int> number;",
            "constexpr int number[] = {1};",
            "template <class T>\nT number(T n) {\n  return n;\n}",
            "struct number {\n  int n;\n};",
            "using number = int;",
            "enum Kind : int { zero, number };",
        ):
            with self.subTest(own):
                self.assertEqual(len(self.units(a=code(own), b=code(use="int other() { return number(2); }"))), 2)
                self.assertEqual(len(self.units(a=code(own), b=code("// number\nint other;"))), 1)

    def test_names_inside_of_functions_are_no_matter(self) -> None:
        own = "int first() {\n  const int number = 2;\n  return number;\n}"
        self.assertEqual(len(self.units(a=code(own), b=code(use="int other() { return number(2); }"))), 1)

    def test_a_name_that_only_the_other_files_headers_declare_separates_them(self) -> None:
        headers = {
            "far.h": '#include "room/near.h"\n',
            "near.h": "namespace fathom {\nint number(long n);\nenum class Kind { kName };\n}  // namespace fathom\n",
        }
        own = "int number(int n) { return n; }"
        other = code("int other;", head='#include "room/far.h"\n')
        self.assertEqual(len(self.units(**headers, a=code(own), b=other)), 2)
        self.assertEqual(len(self.units(**headers, a=code(own, head='#include "room/near.h"\n'), b=other)), 1)
        used = code("int nothing;", head="using enum Kind;")
        self.assertEqual(len(self.units(**headers, a=used, b=code("int kName;"))), 2)

    def test_a_unit_has_a_few_files(self) -> None:
        many = self.units(**{f"f{n}": code(f"int own_{n};") for n in range(units.MOST_FILES + 1)})
        self.assertEqual([len(unit) for unit in many], [units.MOST_FILES, 1])

    def test_a_file_stays_where_it_was_while_it_can(self) -> None:
        files = {name: code(f"int own_{name};") for name in ("a", "b", "c", "d")}
        self.assertEqual(self.units([{"c", "gone"}, {"a", "b"}], **files), [["c", "d"], ["a", "b"]])
        files["b"] = code("int own_b;", use="int other() { return own_a; }")
        self.assertEqual(self.units([{"c", "gone"}, {"a", "b"}], **files), [["b", "c", "d"], ["a"]])

    def test_written_for_cmake_and_read_again(self) -> None:
        self.units(a=code("int own_a;"), b=code("int own_b;"), c_test=code("int own_c;"))
        top = self.src / "room"
        names = ["a.cc", "b.cc", "c_test.cc"]
        text = units.cmake_text(top, names, "")
        self.assertIn(f'"{top}/a.cc"\n  "{top}/b.cc"\n  PROPERTIES UNITY_GROUP code_0)', text)
        self.assertIn(f'"{top}/c_test.cc"\n  PROPERTIES UNITY_GROUP tests_0)', text)
        self.assertEqual(units.cmake_text(top, names, text), text)
        moved = text.replace(f'"{top}/a.cc"\n  ', "")
        self.assertEqual(units.cmake_text(top, names[1:], moved), moved)

    def test_what_is_gone_is_left_out(self) -> None:
        self.units(a=code("int own_a;"))
        text = units.cmake_text(self.src / "room", ["a.cc", "gone.cc"], "")
        self.assertNotIn("gone.cc", text)
        self.assertIn("a.cc", text)

    def test_files_headers_and_the_tool_itself_are_dependencies(self) -> None:
        self.units(**{"near.h": "int near;\n"}, a=code())
        text = units.dependencies(self.src / "my $out", self.src / "room", ["a.cc", "gone.cc"])
        self.assertTrue(text.startswith(f"{self.src}/my\\ $$out: "), text)
        for name in ("room/a.cc ", "room/gone.cc ", "room/near.h ", "/units.py ", "/namespaces.py\n"):
            self.assertIn(name, text)

    def test_every_file_of_a_unit_has_its_command(self) -> None:
        files = self.units(a=code(), b=code())[0]
        unit = self.src / "Unity" / "unity_code_0_cxx.cxx"
        unit.parent.mkdir()
        unit.write_text("".join(f'#include "{self.src}/room/{name}.cc"\n' for name in files))
        entries: List[Dict[str, str]] = [
            {"file": str(unit), "command": f"c++ -c {unit}"},
            {"file": "/x.cc", "command": "c++ -c /x.cc"},
        ]
        (self.src / "compile_commands.json").write_text(json.dumps(entries))
        commands = [entry["command"] for entry in units.commands_of(self.src)]
        self.assertEqual(commands, [f"c++ -c {self.src}/room/{name}.cc" for name in files] + ["c++ -c /x.cc"])


if __name__ == "__main__":
    unittest.main()
