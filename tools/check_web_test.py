# SPDX-License-Identifier: MIT
"""Tests of tools/check_web.py."""

import importlib.util
import os
import tempfile
import unittest
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("check_web", Path(__file__).with_name("check_web.py"))
assert SPEC is not None and SPEC.loader is not None
check_web = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_web)


class Words(unittest.TestCase):
    def found(self, text: str, forbidden: dict) -> list:
        return list(check_web.words_in(text, forbidden))

    def test_text_that_would_become_markup_or_code_is_found(self) -> None:
        lines = ["x.innerHTML = name", "<p dangerouslySetInnerHTML={x} />", "eval(x)", "fetch('https://example.org')"]
        for line in lines:
            self.assertEqual(len(self.found(f"a\n{line}\n", check_web.FORBIDDEN)), 1, line)

    def test_what_a_page_needs_is_no_problem(self) -> None:
        text = 'x.textContent = name;\nconst ns = "http://www.w3.org/2000/svg";\nsetTimeout(() => go(), 5);\n'
        self.assertEqual(self.found(text, check_web.FORBIDDEN), [])

    def test_inline_scripts_and_styles_are_found(self) -> None:
        for text in ("<script>go()</script>", '<p style="x">', '<body onload="go()">', "<style>"):
            self.assertEqual(len(self.found(text, check_web.MARKUP)), 1, text)
        self.assertEqual(self.found('<script type="module" src="page.js"></script>', check_web.MARKUP), [])


class Plurals(unittest.TestCase):
    def found(self, text: str) -> list:
        return list(check_web.plurals_in(text))

    def test_a_plural_behind_a_number_is_found(self) -> None:
        lines = [
            "<summary>{missing.length} layers recorded nothing</summary>",
            "return lost > 0 ? [`${withThousands(lost)} events`] : [];",
            "<summary>All {all} threads</summary>",
            "{rows.length} of {withThousands(ordered.length)} rows match",
            "const name = `${row.more} more levels`;",
            '{escapeName(view)} <span class="faint">{columns.length} columns</span>',
            '{withThousands(hit.count)}{" "}\n  events drawn as one',
            'const label = count + " boxes";',
            "{runs} <b>runs</b>",
        ]
        for line in lines:
            self.assertEqual(len(self.found(f"a\n{line}\n")), 1, line)
            self.assertTrue(self.found(f"a\n{line}\n")[0].startswith("2: "), line)

    def test_other_words_behind_a_value_are_none(self) -> None:
        lines = [
            "<summary>{counted(missing.length, 'layer')} recorded nothing</summary>",
            'const ORDER = { before: "b" } as const;',
            "{escapeName(name)} is not shown",
            "${humanNs(value)} (${withThousands(value)} ns)",
            "<Half title={`Callers of ${name}`} tree={callers} upwards />",
            "<Choice value={value} options={options} />",
            "{matches.functions}, {share}",
        ]
        for line in lines:
            self.assertEqual(self.found(line), [], line)


class Size(unittest.TestCase):
    def test_a_page_that_is_too_large_is_a_problem(self) -> None:
        self.assertEqual(check_web.size_problems({"page.js": b"x" * 600_000}), [], "it compresses well")
        self.assertEqual(len(check_web.size_problems({"page.js": os.urandom(600_000)})), 1)


@unittest.skipUnless((check_web.PACKAGES / "prettier").is_dir(), "prettier is missing; tools/fetch_web.sh --tests")
class Functions(unittest.TestCase):
    def found(self, text: str) -> list:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "x.tsx"
            file.write_text(text)
            return [line.removeprefix(f"{file}:") for line in check_web.long_functions([file])]

    def test_a_function_that_is_too_long_is_found_by_its_name(self) -> None:
        long = "  go();\n" * check_web.MOST_LINES
        self.assertEqual(
            self.found(f"\nexport function View() {{\n{long}}}\n"), ["2: View has 62 lines; 60 are the limit"]
        )
        self.assertEqual(self.found(f"const view = () => {{\n{long}}};\n"), ["1: view has 62 lines; 60 are the limit"])
        self.assertEqual(
            self.found(f"class A {{\n  draw() {{\n{long}  }}\n}}\n"), ["2: draw has 62 lines; 60 are the limit"]
        )

    def test_the_longest_that_may_be_is_no_problem(self) -> None:
        text = "  go();\n" * (check_web.MOST_LINES - 2)
        self.assertEqual(self.found(f"export const View = <A,>(a: A): JSX.Element => {{\n{text}}};\n"), [])

    def test_a_file_that_cannot_be_read_is_a_problem(self) -> None:
        self.assertNotEqual(self.found("const = ;\n"), [])


if __name__ == "__main__":
    unittest.main()
