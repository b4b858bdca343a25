# SPDX-License-Identifier: MIT
"""The checks themselves are checked: each rule catches what breaks it."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, Set

import check_door
import check_files
import check_layer_names
import check_layers
import check_types
import tally


def layer_problems(files: Dict[str, str], name: str) -> List[str]:
    with tempfile.TemporaryDirectory() as folder:
        src = Path(folder)
        for path, text in files.items():
            (src / path).parent.mkdir(parents=True, exist_ok=True)
            (src / path).write_text(text)
        problems = [problem for _, problem in check_layers.problems_of(src, name)]
        leak = check_layers.is_guest(name) and check_layers.leak_into_guest(src, name)
        return problems + ([f"reaches {leak}"] if leak else [])


class Types(unittest.TestCase):
    def problems(self, **files: str) -> List[str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, f"{name}.h").write_text(text)
            return check_types.problems_of(Path(folder))

    def test_one_name_is_one_type(self) -> None:
        text = "namespace fathom::analysis {\n\nstruct Function {\n  int a;\n};\n\n}  // namespace fathom::analysis\n"
        wanted = ["fathom::analysis::Function is defined in one.h:3 and two.h:3"]
        self.assertEqual(self.problems(one=text, two=text.replace("int a", "double b")), wanted)
        self.assertEqual(len(self.problems(one=text, two=text.replace("struct", "enum class"))), 1)
        self.assertEqual(len(self.problems(one=text, two=text.replace("struct F", "template <class T>\nclass F"))), 1)

    def test_one_name_is_one_constant(self) -> None:
        text = "namespace fathom::trace {\n\ninline constexpr char kCopies[] = 3;\n\n}  // namespace fathom::trace\n"
        wanted = ["fathom::trace::kCopies is defined in one.h:3 and two.h:3"]
        self.assertEqual(self.problems(one=text, two=text.replace("char", "std::string_view")), wanted)
        self.assertEqual(self.problems(one=text, two=text.replace("inline ", "")), [])

    def test_other_namespaces_parts_and_announcements_are_other_things(self) -> None:
        text = "namespace fathom {\n\nstruct Function {\n  int a;\n};\n\n}  // namespace fathom\n"
        self.assertEqual(self.problems(one=text, two=text.replace("fathom", "fathom::sql")), [])
        self.assertEqual(self.problems(one=text, two=text.replace("Function {", "Function;")), [])
        self.assertEqual(self.problems(one=text, two=text.replace("Function {", "Function::State {")), [])
        hidden = text.replace("struct", "namespace {\nstruct").replace("};\n", "};\n}  // namespace\n")
        self.assertEqual(self.problems(one=text, two=hidden), [])


class Door(unittest.TestCase):
    def check(self, name: str, line: str, allowed: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n")
            found = list(check_door.problems(Path(folder)))
        self.assertEqual(not found, allowed, f"{name}: {line}: {found}")

    def test_paths(self) -> None:
        self.check("trace/x.cc", "const auto file = directory.read(name);", True)
        self.check("trace/x.cc", "const auto file = File::open(path, O_RDONLY);", False)
        self.check("trace/x.cc", "int fd = ::open(path, O_RDONLY);", False)
        self.check("analysis/x.h", "std::ifstream in(path);", False)
        self.check("trace/x.cc", "const auto spool = Spool::open(directory);", True)
        self.check("trace/x.cc", '// File::open; "fopen" is a word', True)
        self.check("trace/x_test.cc", "const auto text = read_file(path);", True)
        self.check("sql/x.cc", "const auto text = read_file(path);", True)

    def test_exceptions(self) -> None:
        self.check("trace/spool/liveness.cc", 'read_file("/proc/1/stat");', True)
        self.check("trace/spool/liveness.cc", "list_dir(path);", False)
        self.check("analysis/import/x.cc", "read_file(path);", True)


class Files(unittest.TestCase):
    LICENCE = "// SPDX-License-Identifier: MIT"

    def check(self, name: str, lines: List[str], allowed: bool) -> None:
        found = list(check_files.problems_of(name, lines))
        self.assertEqual(not found, allowed, f"{name}: {lines}: {found}")

    def test_licence_and_size(self) -> None:
        self.check("tools/x.py", ["# SPDX-License-Identifier: MIT"], True)
        self.check("tools/x.py", ["import sys"], False)
        self.check("tools/x.py", ["# SPDX-License-Identifier: MIT"] * 801, False)

    def check_references(self, name: str, text: str, allowed: bool) -> None:
        found = list(check_files.far_references(name, text))
        self.assertEqual(not found, allowed, f"{name}: {text}: {found}")

    def test_references_out_of_the_repository(self) -> None:
        self.check_references("src/x.h", "// As DESIGN section 5.3 fixes it.", False)
        self.check_references("src/x.h", "// Rules (DESIGN, law 1)", False)
        self.check_references("src/x.h", "// DESIGN.md, section 4", False)
        self.check_references("src/x.h", "// docs/stat.md (JSON) has its keys. A DESIGN is a word.", True)
        self.check_references("docs/x.md", "[there](../src/README.md#a), [page](https://example.org/x)", True)
        self.check_references("docs/x.md", "see [there](../../notes.md)", False)
        self.check_references("docs/x.md", "see [there](/work/notes.md)", False)
        self.check_references("docs/x.md", "`[x](../../y)` is code", True)

    def test_opening_comment(self) -> None:
        self.check("src/base/x.cc", [self.LICENCE, "// Reads it.", '#include "x.h"'], True)
        self.check("src/base/x.cc", [self.LICENCE, '#include "x.h"', "// Reads it."], False)
        self.check("src/base/x.cc", [self.LICENCE], False)
        self.check("src/base/x.cc", [self.LICENCE, "// NOLINTBEGIN(x)", "int x;"], False)
        self.check("src/base/x.h", [self.LICENCE, "#pragma once", "", "// What is known of it.", "int x;"], True)
        self.check("src/base/x.h", [self.LICENCE, "#pragma once", "", "#include <string>"], False)
        self.check("web/src/x.tsx", [self.LICENCE, 'import { h } from "preact";'], False)

    def test_opening_comment_around_the_licence(self) -> None:
        first = "/* SPDX-License-Identifier: MIT"
        self.check("src/wire/x.h", [first, "   What both know. */", "#pragma once"], True)
        self.check("src/wire/x.h", [first, " * What both know.", " */"], True)
        self.check("src/wire/x.h", [first, " */", "#pragma once"], False)
        self.check("src/wire/x.h", [first + " */", "#pragma once"], False)
        self.check("src/wire/x.h", [first + " */", "/* What both know. */"], True)

    def test_files_that_need_no_opening_comment(self) -> None:
        for name in ("src/base/x_test.cc", "src/base/x_fuzz.cc", "src/base/testing/x.h", "web/src/logic/x.test.ts"):
            self.check(name, [self.LICENCE, "int x;"], True)
        self.check("tests/victims/x.c", [self.LICENCE, "int x;"], True)

    def test_a_readme_names_files_that_exist(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ("src/sql/deep/x.h", "src/sql/x_test.cc", "src/base/text.h", "tools/run.py"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("")
            readme = root / "src/sql/README.md"
            readme.write_text("`x.h`, `deep/x.h`, `base/text.h`, `tools/run.py`, `x_*.cc`, `linux/bpf.h`, `x.h()`")
            self.assertEqual(list(check_files.unknown_files(root, readme)), [])
            readme.write_text("`y.h`, `other/x.h`, `text.h`, `y_*.cc` and `x.cc`")
            unknown = ["y.h", "other/x.h", "text.h", "y_*.cc", "x.cc"]
            self.assertEqual(list(check_files.unknown_files(root, readme)), unknown)


class Layers(unittest.TestCase):
    def check(self, name: str, line: str, allowed: bool) -> None:
        problems = layer_problems({name: line + "\n"}, name)
        self.assertEqual(not problems, allowed, f"{name}: {line}: {problems}")

    def test_table(self) -> None:
        self.check("base/x.cc", '#include "base/files.h"', True)
        self.check("base/x.cc", '#include "sql/connection.h"', False)
        self.check("trace/spool/x.cc", '#include "wire/record.h"', True)
        self.check("trace/spool/x.cc", '#include "sources/source.h"', False)
        self.check("session/x.cc", '#include "sources/source.h"', True)
        self.check("session/x.cc", '#include "sources/posix/posix.h"', False)
        self.check("render/x.cc", '#include "trace/recording/manifest.h"', False)
        self.check("cli/x.cc", '#include "render/text.h"', True)
        self.check("cli/x.cc", '#include "guest/attach.h"', False)
        self.check("trace/spool/x.cc", '#include "manifest.h"', False)

    def test_rooms_inside_a_room(self) -> None:
        self.check("trace/spool/x.cc", '#include "trace/decode/decoder.h"', True)
        self.check("trace/decode/x.cc", '#include "trace/spool/spool.h"', False)
        self.check("trace/decode/x_test.cc", '#include "trace/spool/spool.h"', True)
        self.check("session/x.cc", '#include "session/run/run.h"', False)
        self.check("session/run/x.cc", '#include "session/watch/watch.h"', False)
        self.check("session/run/x.cc", '#include "session/place.h"', True)
        self.check("cli/x.cc", '#include "session/run/run.h"', True)
        self.assertFalse(check_layers.is_room("trace/x.cc"))

    def test_sources(self) -> None:
        self.check("sources/sources.cc", '#include "sources/posix/posix.h"', True)
        self.check("sources/source.h", '#include "sources/posix/posix.h"', False)
        self.check("sources/posix/x.cc", '#include "sources/source.h"', True)
        self.check("sources/posix/x.cc", '#include "sources/stdio/stdio.h"', False)
        self.check("sources/posix/x.cc", '#include "session/session.h"', False)
        self.check("sources/posix/x.guest.cc", '#include "guest/emit.h"', True)
        self.check("sources/posix/x.guest.cc", '#include "base/text.h"', False)

    def test_guest_half_and_headers_that_sources_share(self) -> None:
        name = "sources/a/a.guest.cc"
        files = {name: '#include "sources/shared.h"\n', "sources/shared.h": "#include <stdint.h>\n"}
        self.assertEqual(layer_problems(files, name), [])
        files["sources/shared.h"] = '#include "base/text.h"\n'
        files["base/text.h"] = ""
        self.assertEqual(layer_problems(files, name), ["reaches base/text.h"])

    def test_third_party(self) -> None:
        self.check("sql/x.cc", "#include <duckdb.h>", True)
        self.check("analysis/x.cc", "#include <duckdb.h>", False)
        self.check("trace/recording/x.cc", "#include <nlohmann/json.hpp>", True)
        self.check("trace/recording/x.h", "#include <nlohmann/json.hpp>", False)
        self.check("guest/x.cc", "#include <atomic>", True)
        self.check("guest/x.cc", "#include <string>", False)
        self.check("guest/x_test.cc", "#include <string>", True)

    def test_guest_reaches_host_code_over_a_shared_header(self) -> None:
        files = {
            "sources/a/a.guest.cc": '#include "sources/a/table.h"\n',
            "sources/a/table.h": '#include "base/text.h"\n',
            "base/text.h": "",
        }
        self.assertEqual(layer_problems(files, "sources/a/a.guest.cc"), ["reaches base/text.h"])

    def test_a_room_says_what_it_is_for(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            src = Path(folder)
            self.assertIn("trace", check_layers.rooms_without_readme(src))
            for room in {"trace"} | set(check_layers.MAY_INCLUDE):
                (src / room).mkdir(parents=True, exist_ok=True)
                (src / room / "README.md").write_text("# a room\n")
            self.assertEqual(check_layers.rooms_without_readme(src), [])
            (src / "trace" / "spool" / "README.md").unlink()
            self.assertEqual(check_layers.rooms_without_readme(src), ["trace/spool"])

    def test_every_arrow_is_used(self) -> None:
        src = Path(__file__).parent.parent / "src"
        used: Dict[str, Set[str]] = {room: set() for room in check_layers.MAY_INCLUDE}
        for path in [path for path in src.rglob("*") if path.suffix in {".h", ".cc", ".c"}]:
            room = check_layers.room_of(path.relative_to(src).as_posix())
            below = used[room if room in used else check_layers.house_of(room)]
            for target in [check_layers.room_of(one.name) for one in check_layers.includes_of(path) if one.quoted]:
                below |= {target, check_layers.house_of(target)}
        unused = {room: sorted(may - used[room]) for room, may in check_layers.MAY_INCLUDE.items()}
        self.assertEqual({room: rooms for room, rooms in unused.items() if rooms}, {})

    def test_the_build_adds_rooms_lowest_first(self) -> None:
        root = Path(__file__).parent.parent
        order = re.search(r"foreach\(room (.*)\)", (root / "CMakeLists.txt").read_text())
        fleet = re.search(r"set\(\$\{result\} (\w.*) PARENT_SCOPE\)", (root / "cmake/fleet.cmake").read_text())
        assert order and fleet
        rooms = order[1].replace("${fleet_rooms}", fleet[1]).split()
        built = {check_layers.house_of(room) for room in check_layers.MAY_INCLUDE} - {"wire"}  # headers alone
        self.assertEqual(sorted(rooms), sorted(built))
        for room, used in check_layers.MAY_INCLUDE.items():
            for lower in {check_layers.house_of(other) for other in used} - {check_layers.house_of(room), "wire"}:
                self.assertLess(rooms.index(lower), rooms.index(check_layers.house_of(room)), f"{room} uses {lower}")

    def test_clang_tidy_reads_every_header(self) -> None:
        root = Path(__file__).parent.parent
        patterns = [
            re.search(r"^HeaderFilterRegex: '(.*)'$", (root / path).read_text(), re.MULTILINE)
            for path in (".clang-tidy", "src/guest/.clang-tidy")
        ]
        listed = subprocess.run(["git", "-C", root, "ls-files", "src/*.h"], capture_output=True, text=True, check=True)
        for name in listed.stdout.split():
            found = [pattern for pattern in patterns if pattern and re.search(pattern[1], f"/home/user/fathom/{name}")]
            is_c = name.startswith("src/wire/") or name.endswith(".bpf.h")
            self.assertEqual(len(found), 0 if is_c else 1, name)


class LayerNames(unittest.TestCase):
    def problems(self, name: str, text: str, allowed: List[check_layer_names.Allowed]) -> List[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            tables = {
                "src/wire/sources.h": 'ROW(2, STDIO, stdio, "stdio", 30, "green", "what", 0, 0, RUNTIME, 0, 0, "", "")',
                "src/trace/rows/layers.h": 'layer_def("sched", 80, "", "waiting", 0),',
            }
            for path, content in {**tables, name: text + "\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            return list(check_layer_names.problems(root, allowed))

    def check(self, name: str, text: str, allowed: bool) -> None:
        found = self.problems(name, text, [])
        self.assertEqual(not found, allowed, f"{name}: {text}: {found}")

    def test_comparisons(self) -> None:
        self.check("src/cli/x.cc", 'if (event.layer == "stdio") return;', False)
        self.check("src/cli/x.cc", 'if (strings.view(row.layer) != "sched") return;', False)
        self.check("src/cli/x.cc", 'if ("stdio" == event.layer) return;', False)
        self.check("src/cli/x.cc", 'find(rows, "stdio", &trace::LayerState::layer)', False)
        self.check("src/cli/x.cc", "query(\"SELECT 1 WHERE layer = 'stdio'\")", False)
        self.check("src/cli/x.sql", "WHERE e.layer NOT IN ('other',\n 'sched')", False)
        self.check("python/fathom/x.py", 'if row.layer == "stdio":', False)
        self.check("web/src/x.ts", 'if (row.layer === "stdio") return;', False)

    def test_what_a_layer_is_asked_for_or_listed_by(self) -> None:
        self.check("src/cli/x.cc", 'if (plan.has("stdio")) return;', False)
        self.check("src/cli/x.cc", 'if (!is_recorded(manifest, "sched")) return;', False)
        self.check("src/cli/x.cc", 'manifest.layer("stdio").state = "off";', False)
        self.check("src/cli/x.cc", 'constexpr std::string_view kBuffered = "stdio";', False)
        self.check("src/cli/x.cc", 'constexpr char kInnermost[] = "sched";', False)
        self.check("src/cli/x.cc", 'constexpr std::string_view kSummed[] = {"stdio",\n "sched"};', False)
        self.check("src/cli/x.cc", 'filter.layers = {"stdio"};', False)
        self.check("src/cli/x.cc", "\"list_position(['stdio', 'sched'], layer)\"", False)
        self.check("src/cli/x.cc", 'constexpr char kOwn[] = "stdio,sched?";', False)
        self.check("web/src/x.ts", 'const needs = { layers: ["stdio"] };', False)
        self.check("web/src/x.ts", 'layers.some(({ name }) => name === "sched")', False)

    def test_words_that_are_no_layers(self) -> None:
        self.check("src/cli/x.cc", 'const char* names[] = {"stdio", "stdlib"};', True)
        self.check("src/cli/x.cc", 'table.columns = {{"stdio", kCount}, {"sched", kCount}};', True)
        self.check("src/cli/x.cc", 'if (words.contains("stdio")) return;', True)
        self.check("web/src/x.ts", 'row["stdio"]', True)
        self.check("src/trace/rows/layers.h", 'constexpr char kWaits[] = "sched"; layer_def(\n"sched", 80', True)

    def test_what_is_no_comparison_of_a_layer_with_a_name(self) -> None:
        self.check("src/cli/x.cc", "if (trace::is_io(event.layer)) return;", True)
        self.check("src/cli/x.cc", 'layer_sql("layer IN @io")', True)
        self.check("src/cli/x.cc", 'if (event.layer == "nobody\'s") return;', True)
        self.check("src/cli/x.cc", 'row.layer = "stdio";', True)
        self.check("src/cli/x.cc", 'if (player == "stdio") return;', True)
        self.check("src/cli/x_test.cc", 'EXPECT_TRUE(event.layer == "stdio");', True)
        self.check("src/cli/testing/x.h", 'return event.layer == "stdio";', True)

    def test_allowed(self) -> None:
        text = 'return event.layer == "stdio";'
        entry = check_layer_names.Allowed("src/cli/*.cc", "stdio", "it has buffers")
        self.assertEqual(self.problems("src/cli/x.cc", text, [entry]), [])
        self.assertEqual(len(self.problems("src/cli/x.cc", text, [entry._replace(path="src/serve/x.cc")])), 2)
        self.assertEqual(len(self.problems("src/cli/x.cc", text, [entry._replace(layers="stdio sched")])), 1)
        for kept in check_layer_names.ALLOWED:
            self.assertTrue(kept.reason, kept.path)


class Tallies(unittest.TestCase):
    def step(self, status: int, log: str) -> tally.Tally:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "x.log").write_text(log)
            Path(folder, "x.status").write_text(f"{status}\n")
            return tally.of_step(Path(folder, "x.status"))

    def test_last_line_counts(self) -> None:
        log = "1 passed, 1 failed\nmore\n7 passed, 0 failed, 2 skipped\n"
        self.assertEqual(self.step(0, log), (7, 0, 2))

    def test_a_step_that_dies_is_a_failure(self) -> None:
        self.assertEqual(self.step(139, "3 passed, 0 failed\n"), (3, 1, 0))
        self.assertEqual(self.step(1, ""), (0, 1, 0))

    def test_parts_of_a_program(self) -> None:
        """A part that fails, one that died before it wrote anything, and two that are well."""
        report = '<testsuites><testsuite><testcase name="a"/><testcase name="b">{}</testcase></testsuite></testsuites>'
        states = {"x-0": "run", "x-1": "fail", "x-2": "fail", "y-0": "run"}
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            cases = "".join(f'<testcase name="{name}" status="{state}"/>' for name, state in states.items())
            (place / "unit.junit").write_text(f"<testsuite>{cases}</testsuite>")
            (place / "unit.log").write_text("")
            (place / "unit.status").write_text("8\n")
            (place / "unit").mkdir()
            for name, inside in (("x-0", ""), ("x-1", "<failure/>"), ("y-0", "<skipped/>")):
                (place / "unit" / f"{name}.xml").write_text(report.format(inside))
            self.assertEqual(tally.of_step(place / "unit.status"), (4, 2, 1))


if __name__ == "__main__":
    unittest.main()
