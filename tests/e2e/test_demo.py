# SPDX-License-Identifier: MIT
"""The program that the demonstration records does what it says."""

import re

from kit import INCLUDE, Box, check_true


def test_depths_are_those_of_the_sea(box: Box) -> None:
    """They lie around 3000 m, also beside the border of a tile."""
    source = INCLUDE.parent / "demo" / "survey.c"
    box.run(box.kit.made("survey", "cc", "-O1", f"-I{INCLUDE}", source, "-lm"), box.dir, 2)
    depths = [float(text) for text in re.findall(r"shallowest ([\d.]+) m", (box.dir / "notes.txt").read_text())]
    check_true(f"{depths} of two tiles", len(depths) == 2 and all(2000 < depth < 3000 for depth in depths))
