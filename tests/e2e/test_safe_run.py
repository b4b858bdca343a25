# SPDX-License-Identifier: MIT
"""`fathom run` takes nothing of the user's: not his files, not his program under limits, not his signals."""

from pathlib import Path

from kit import Box, check, check_true


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"" for path in root.rglob("*")}


def refused(box: Box, *command: object) -> str:
    _, err = box.finish(box.start(*command), 3)
    check("lines", 1, err.count(b"\n"))
    return err.decode()


def test_force_keeps_what_others_made(box: Box) -> None:
    """--force of run and import removes recordings alone: what lies beside or in one is named, and everything stays."""
    (box.dir / "trace").write_text("main;work 10\n")
    imports = (box.kit.fathom, "import", "trace", "--format", "collapsed", "--force", "-o")
    runs = (box.kit.fathom, "run", "-q", "--force", "-o")
    project = box.dir / "project"
    for folder in ("src", ".git"):
        (project / folder).mkdir(parents=True)
    (project / "manifest.json").write_text('{"name":"x"}')
    box.record("true")
    (box.trace / "notes.txt").write_text("mine")
    (box.trace / "spool").mkdir()
    for place, name in (
        (project, ".git"),
        (box.trace, "notes.txt"),
        (box.dir, "current directory"),
        (".", "current directory"),
    ):
        kept = tree(box.dir / place)
        for command in ((*runs, place, "--", "true"), (*imports, place)):
            check_true(f"{name} is named", name in refused(box, *command))
            check(f"what lies in {place}", kept, tree(box.dir / place))
    (box.trace / "notes.txt").unlink()
    box.run(*runs, box.trace, "--", "true")
    box.run(*imports, box.trace)
    (box.dir / "empty").mkdir()
    box.run(*imports, "empty")
    check("what import left", [], list(box.dir.glob("*.import-*")))
