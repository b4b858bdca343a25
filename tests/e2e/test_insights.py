# SPDX-License-Identifier: MIT
"""Rules: a real program with a real fault, advice about it, the rows behind it, and rules of one's own."""

import json

from kit import Box, check, check_true

BLOCKS = 20_000
RULE = """-- id: {id}
-- severity: low
-- title: Something was read
-- says: {{calls:count}} reads of {{file:text}}
-- try: nothing
SELECT CAST(sum(calls) AS BIGINT) AS calls, any_value(file) AS file FROM io WHERE direction = 'read'
HAVING sum(calls) > 0
-- evidence:
SELECT file, calls FROM io
"""


def record_small_reads(box: Box) -> None:
    (box.dir / "in.dat").write_bytes(b"x" * (BLOCKS * 512))
    box.record("dd", "if=in.dat", "of=out.dat", "bs=512", "status=none")


def test_small_reads_are_found(box: Box) -> None:
    record_small_reads(box)
    found = {row["rule"]: row for row in json.loads(box.fathom("report", box.trace, "--format", "json"))["insights"]}
    check_true("small reads and writes are found", {"small-reads", "small-writes"} <= found.keys())
    check_true("their gain is told", found["small-reads"]["gain"] > 0)
    shown = json.loads(box.fathom("show", box.trace, "small-reads", "--format", "json"))
    check("the advice stands with its rows", ["small-reads"], [row["rule"] for row in shown["insights"]])
    rows = shown["evidence"]
    mine = [row for row in rows if row["file"].endswith("/in.dat")]
    check("rows of the file", 1, len(mine))
    check("its small reads, and the one that finds the end", BLOCKS + 1, mine[0]["small"])
    text = box.fathom("report", box.trace).decode()
    check_true("people read it, too", "! Many small reads (" in text)


def test_show_has_the_advice_in_every_format(box: Box) -> None:
    record_small_reads(box)
    for form in ("table", "md", "csv", "json"):
        text = box.fathom("show", box.trace, "small-reads", "--format", form).decode()
        check_true(f"advice and evidence in {form}", "read larger blocks" in text and "in.dat" in text)


def test_advice_fits_the_terminal(box: Box) -> None:
    record_small_reads(box)
    for arguments in (("report", box.trace), ("show", box.trace, "small-reads")):
        text = box.run(box.kit.fathom, *arguments, env={"COLUMNS": "70"}).decode()
        advice = [line for line in text[text.index("! Many small") :].splitlines() if line.startswith("    ")]
        check_true("it takes several lines", len(advice) > 3)
        check("lines that are too long", [], [line for line in advice if len(line) > 70 and " " in line.strip()])


def test_advice_before_packing(box: Box) -> None:
    """A report of what nobody has packed yet gives the same advice."""
    (box.dir / "in.dat").write_bytes(b"x" * (BLOCKS * 512))
    box.run("dd", "if=in.dat", "of=out.dat", "bs=512", "status=none", env=box.unsupervised())
    check_true("it is found", b"small-reads" in box.fathom("report", box.trace))
    check_true("nothing was packed", (box.trace / "spool").exists())


def test_rules_of_ones_own(box: Box) -> None:
    record_small_reads(box)
    rules = box.root / "my rules"
    rules.mkdir()
    (rules / "read.sql").write_text(RULE.format(id="my-own"))
    shown = json.loads(box.fathom("show", box.trace, "--rules", rules, "--format", "json"))
    check("it has something to say", 1, sum(row["rule"] == "my-own" and row["says"] is not None for row in shown))
    check_true(
        "and so in the report", b"my-own" in box.fathom("report", box.trace, "--rules", rules, "--format", "json")
    )
    (rules / "bad.sql").write_text("-- id: broken\nSELECT 1\n")
    process = box.start(box.kit.fathom, "show", box.trace, "--rules", rules)
    _, err = box.finish(process, 3)
    check_true("a malformed rule is named", b"bad.sql" in err and err.count(b"\n") == 1)


def test_rules_cannot_write(box: Box) -> None:
    record_small_reads(box)
    rules = box.root / "rules"
    rules.mkdir()
    target = box.root / "out.csv"
    text = RULE.format(id="writer").replace("SELECT CAST", f"COPY (SELECT 1) TO '{target}'; SELECT CAST")
    (rules / "writer.sql").write_text(text)
    process = box.start(box.kit.fathom, "show", box.trace, "writer", "--rules", rules)
    box.finish(process, 3)
    check_true("nothing was written", not target.exists())


def test_unknown_rule(box: Box) -> None:
    record_small_reads(box)
    process = box.start(box.kit.fathom, "show", box.trace, "small-read")
    _, err = box.finish(process, 2)
    check_true("the nearest is named", b"small-reads" in err)
