# SPDX-License-Identifier: MIT
"""A source is added by CONTRIBUTING's recipe alone: its folder, its row in wire/sources.h, and its name on the page of
the format. What checks and tests hold of all layers is so of the new tree, too. The program as it was before still
decodes what the new library records, and names what was lost of a source that it has never heard of."""

import shutil
import subprocess
from pathlib import Path

from jobs import may_take
from kit import Box, Failure, Skipped, check, check_true

ROOT = Path(__file__).resolve().parent.parent.parent
NEW = Path(__file__).resolve().parent / "new_source"
RECORDING = "docs/formats/recording.md"
LAST_LINE = "  /* the next row goes above this line */\n"
DRAWS = 60_000


def command(*words: object) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{words}: {(done.stdout + done.stderr)[-3000:]}")


def copied_tree(place: Path) -> Path:
    """What git knows of the checkout, with the new source in it."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    folder = place / "src/sources/chance"
    folder.mkdir()
    for path in sorted(NEW.glob("chance*")):
        shutil.copy(path, folder)
    table = place / "src/wire/sources.h"
    text = table.read_text()
    check("places for a row", 1, text.count(LAST_LINE))
    table.write_text(text.replace(LAST_LINE, (NEW / "row.txt").read_text() + LAST_LINE))
    page = place / RECORDING
    text = page.read_text()
    check("places for its name", 1, text.count(" heap user "))
    page.write_text(text.replace(" heap user ", " heap chance user "))
    return place


def test_by_the_recipe_alone(box: Box) -> None:
    """The in-process half, recorded by the new library, decoded by the old program."""
    box.not_emulated("it is built anew")
    if not (ROOT / ".git").exists():
        raise Skipped("no checkout of git")
    tree, build = copied_tree(box.dir / "tree"), box.dir / "build"
    command("cmake", "-S", tree, "-B", build, "-DFATHOM_RECORD_ONLY=ON", "-DCMAKE_BUILD_TYPE=Release")
    command("cmake", "--build", build, "--target", "fathom_guest", "-j2")
    library = {"LD_PRELOAD": str(build / "libfathom.so"), "FATHOM_OUT": str(box.trace), "FATHOM_LAYERS": "chance"}
    box.run(box.kit.victim("draws"), DRAWS, env={**library, "FATHOM_SPOOL_MAX": "300K"})
    events = box.count("layer = 'chance' AND name = 'random' AND category = 'draw'")
    lost = box.rows("SELECT layer, reason, \"count\" FROM losses WHERE layer = 'chance'")
    check("reasons", [("chance", "no room in the spool")], [row[:2] for row in lost])
    check_true(f"some of both: {events} events, {lost}", 0 < events < DRAWS)
    check("events and losses", DRAWS, events + int(lost[0][2]))
    box.fathom("collect", "-q", box.trace)
    check("events when packed", events, box.count("layer = 'chance'"))
    check("losses when packed", lost, box.rows("SELECT layer, reason, \"count\" FROM losses WHERE layer = 'chance'"))


def test_the_checks_of_the_new_tree(box: Box) -> None:
    """What needs no build: the checks of layers and files, and the page's logic, which has the colours."""
    if not (ROOT / ".git").exists():
        raise Skipped("no checkout of git")
    tree = copied_tree(box.dir / "tree")
    command("git", "-C", tree, "init", "-q")  # checks ask it for the files
    for name in ("check_layers.py", "check_layer_names.py", "check_files.py"):
        command("python3", tree / "tools" / name)
    packages = ROOT / ".cache/web"
    if not (packages / "node_modules").is_dir():
        raise Skipped("the page's packages are not here: tools/fetch_web.sh --tests")
    (tree / ".cache").mkdir(exist_ok=True)
    (tree / ".cache/web").symlink_to(packages)
    command(tree / "tests/page/run", "--logic", "-k", "theme")


@may_take(1800)
def test_the_new_program_knows_the_layer(box: Box) -> None:
    """The host half: the new program records the layer by its name, and what tests hold of all layers is so."""
    box.not_emulated("it is built anew")
    if not box.kit.full:
        raise Skipped("the whole program is built anew: --full")
    tree, build = copied_tree(box.dir / "tree"), box.dir / "build"
    duckdb = f"-DFATHOM_DUCKDB_DIR={ROOT / '.cache/duckdb'}"
    command("cmake", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Release", duckdb)
    tests = [f"{room}_test" for room in ("trace", "sources", "session", "analysis")]
    command("cmake", "--build", build, "--target", "fathom", "fathom_guest", *tests, "-j2")
    for test in tests:
        command(build / "test" / test, "--gtest_brief=1")
    command("env", f"FATHOM_BUILD={build}", tree / "tests/golden/run")
    draws = box.kit.victim("draws")
    box.run(build / "fathom", "run", "-q", "--layers", "chance", "-o", box.trace, "--", draws, 7)
    check("draws, by the old program", 7, box.count("layer = 'chance' AND name = 'random'"))
