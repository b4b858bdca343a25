# SPDX-License-Identifier: MIT
"""Tests of tests/page/run: a green result of CI means that the page was looked at."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Tuple

TOP = Path(__file__).resolve().parent.parent


class WithoutPackages(unittest.TestCase):
    """On a machine without node: no package of the page can be fetched."""

    def run_page(self, **variables: str) -> Tuple[int, str]:
        with tempfile.TemporaryDirectory() as name:
            top = Path(name)
            for path in ("tests/page", "tools"):
                (top / path).mkdir(parents=True)
            for path in ("tests/formats", "tests/jobs.py", "tests/questions.py"):
                (top / path).symlink_to(TOP / path)
            (top / "tests/page/run").write_bytes((TOP / "tests/page/run").read_bytes())
            (top / "tools/fetch_web.sh").write_text("#!/bin/sh\necho npm is missing >&2\nexit 1\n")
            (top / "tools/fetch_web.sh").chmod(0o755)
            known = {key: value for key, value in os.environ.items() if key not in ("CI", "FATHOM_FULL")}
            command = ["python3", "-B", str(top / "tests/page/run")]
            done = subprocess.run(command, env={**known, **variables}, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_somebody_at_home_is_told(self) -> None:
        status, text = self.run_page()
        self.assertEqual(status, 0, text)
        self.assertIn("skipped: npm is missing; tools/fetch_web.sh --tests", text)
        self.assertEqual(text.splitlines()[-1], "0 passed, 0 failed, 1 skipped")

    def test_ci_fails(self) -> None:
        for variable in ("CI", "FATHOM_FULL"):
            status, text = self.run_page(**{variable: "1"})
            self.assertEqual(status, 1, text)
            self.assertIn("FAILED: npm is missing; tools/fetch_web.sh --tests", text)
            self.assertEqual(text.splitlines()[-1], "0 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
