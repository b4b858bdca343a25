# SPDX-License-Identifier: MIT
"""Pictures of the documents: small, sound, shown in README.md, and made by docs/pictures/make.py."""

import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from kit import TOP, Failure, Skip, expect, ran

FOLDER = TOP / "docs" / "pictures"
MOST_BYTES = 150_000


def texts_of(path: Path) -> str:
    """Also holds that the picture is only text and shapes: no script, and nothing from elsewhere."""
    root = ElementTree.fromstring(path.read_text())
    kinds = {element.tag.split("}")[1] for element in root.iter()}
    expect(f"elements of {path.name}", {"svg", "rect", "text"}, kinds)
    texts = "\n".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    expect(f"spaces of {path.name} that browsers draw as one", [], re.findall("  +.*", texts))
    return texts.replace("\u00a0", " ")


def test_pictures_are_small_and_shown(root: Path) -> None:
    pictures = [path for path in FOLDER.iterdir() if path.suffix in (".svg", ".png")]
    if not pictures:
        raise Failure(f"{FOLDER} has no picture")
    readme = (TOP / "README.md").read_text()
    expect("pictures that are too large", [], [path.name for path in pictures if path.stat().st_size > MOST_BYTES])
    expect("pictures that README.md does not show", [], [path.name for path in pictures if path.name not in readme])


def test_pictures_of_a_terminal_can_be_made_again(root: Path) -> None:
    if shutil.which("cc") is None:
        raise Skip("there is no C compiler for the demo")
    ran(FOLDER / "make.py", "-o", root, "terminal")
    made, kept = texts_of(root / "terminal.svg"), texts_of(FOLDER / "terminal.svg")
    commands = r"^\$ .*$"
    expect("commands", re.findall(commands, kept, re.MULTILINE), re.findall(commands, made, re.MULTILINE))
    expect("control characters", [], re.findall(r"[\x00-\x09\x0b-\x1f\x7f]", made))
    if "charted 60 tiles" not in made or "nothing lost" not in made:
        raise Failure(f"the picture does not show the demo: {made[:200]}")
