# SPDX-License-Identifier: MIT
"""Every number of the overview, of a run's summary and of rules, asked for in SQL: sentences.py has the questions."""

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs import alone
from kit import Box, Failure, Skipped, check, check_true
from questions import apart, together
from sentences import (
    BYTES,
    COUNT,
    PERCENT,
    TABLES,
    TIME,
    WALL,
    WORDS,
    Claim,
    Wrong,
    claims_of,
    is_equal,
    slips,
    slips_among,
    summary_claims,
)

TOP = Path(__file__).resolve().parent.parent.parent
GOLDENS = sorted(path for path in (TOP / "tests" / "golden").glob("*.txt") if path.stem != "narrow")
RULES = sorted((TOP / "src" / "analysis" / "insights" / "rules").glob("*.sql"))
KIT_SCENES = (
    ("regatta", "sleep", "2"),
    ("regatta", "read", "2"),
    ("chain", "3", "20"),
    ("loungers", "sleep", "3", "50"),
)

# What the sums of a recording must be, from its events alone. Calls that were only added up have none.
KEYS = "host, layer, name, category, file, pid, program"
BUCKETS = "CASE WHEN {0} < 2 THEN 0 ELSE CAST(floor(log2({0})) AS BIGINT) END"
FROM_EVENTS = f"""
  SELECT {KEYS}, count(*) AS calls, count(error) AS errors, sum(dur) AS dur, sum(self) AS self, min(dur) AS dur_min,
         max(dur) AS dur_max, sum(bytes) AS bytes, min(ts) AS "first", max(ts + dur) AS "last",
         sum({BUCKETS.format("dur")}) AS times,
         coalesce(sum({BUCKETS.format("bytes")}) FILTER (bytes IS NOT NULL AND error IS NULL), 0) AS sized
  FROM events GROUP BY {KEYS}"""
FROM_SUMS = f"""
  SELECT {KEYS}, sum(calls) AS calls, sum(errors) AS errors, sum(dur) AS dur, sum(self) AS self,
         min(dur_min) AS dur_min, max(dur_max) AS dur_max, sum(bytes) AS bytes,
         min("first") AS "first", max("last") AS "last",
         sum(list_sum(list_transform(hist, lambda n, i: n * (i - 1)))) AS times,
         coalesce(sum(list_sum(list_transform(sizes, lambda n, i: n * (i - 1)))), 0) AS sized
  FROM summary WHERE calls > 0 AND layer IN (SELECT layer FROM events) GROUP BY {KEYS}"""
SUMS = (
    f"SELECT * FROM ({FROM_SUMS} EXCEPT {FROM_EVENTS}) LIMIT 3",
    f"SELECT * FROM ({FROM_EVENTS} EXCEPT {FROM_SUMS}) LIMIT 3",
    f"SELECT ts, dur, layer, name FROM events WHERE ts + dur > {WALL} LIMIT 3",
)


@dataclass
class Questions:
    """Of one recording, asked in one process: opening a recording costs far more than answering does."""

    claims: list[Claim] = field(default_factory=list)
    tables: list[tuple[str, list[dict[str, Any]]]] = field(default_factory=list)  # name, rows as they are shown
    left_out: dict[str, str] = field(default_factory=dict)  # "8 of 10", by table
    rules: list[tuple[Path, dict[str, Any]]] = field(default_factory=list)  # and what was said

    def sql(self) -> list[str]:
        scalars = [f"SELECT ({claim.question}) AS told" for claim in self.claims]
        return [
            *scalars,
            *(TABLES[name] for name, _ in self.tables),
            *(query_of(rule) for rule, _ in self.rules),
            *SUMS,
        ]

    def wrong(self, answers: list[list[dict[str, Any]]]) -> Iterator[str]:
        rest = iter(answers)
        for claim in self.claims:
            truth = next(rest)[0]["told"]
            if not claim.is_true(truth):
                yield f"{claim.text!r} in {claim.sentence!r}: SQL says {truth}: {claim.question}"
        for name, shown in self.tables:
            truth = next(rest)
            yield from table_slips(name, shown, truth)
            if self.left_out.get(name, f"{len(shown)} of {len(truth)}") != f"{len(shown)} of {len(truth)}":
                yield f"{name} has {len(shown)} of {len(truth)} rows, not {self.left_out[name]}"
        for rule, told in self.rules:
            yield from rule_slips(rule, told["says"], told["gain"], next(rest)[0])
        for what in ("sums without events", "events without sums", "events behind the end"):
            if rows := next(rest):
                yield f"{what}: {rows}"


def check_questions(box: Box, trace: Path, questions: Questions) -> None:
    sql = together(questions.sql())
    (told,) = json.loads(box.fathom("sql", trace, sql, "--format", "json"))
    check(f"what differs from SQL in {trace.name}", [], list(questions.wrong(apart(told))))


def same(left: Any, right: Any, column: str = "") -> bool:
    if column == "wall" and left is not None and right is not None and left != right:
        # When a layer's threads were in calls is kept as some thousand spans of time. Of more, near ones are joined,
        # and how much threads overlap in these is an estimate.
        return math.isclose(left, right, rel_tol=5e-3)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=1e-3 if isinstance(left, float) else 0, abs_tol=1e-6)
    # Reports write names of C++ functions as their programmers do.
    return bool(left == right) or (isinstance(right, str) and right.startswith("_Z"))


def table_slips(name: str, shown: list[dict[str, Any]], truth: list[dict[str, Any]]) -> Iterator[str]:
    """Rows of a report whose numbers are not those of the question's rows, or have none."""
    keys = [column for column, value in shown[0].items() if not isinstance(value, float | list)][:3] if shown else []
    keys = [key for key in keys if key in ("layer", "name", "category", "file", "pid", "from", "reason", "line")]
    for told in shown:
        row = {column: mean_of(value) for column, value in told.items()}
        if "over_time" in row:  # means of its stretches, none of which is above the largest
            row["over_time"] = all(number is None or number <= told["max"] for number in told["over_time"])
        alike = [other for other in truth if all(same(row[key], other.get(key)) for key in keys)]
        if not any(all(c in other and same(value, other[c], c) for c, value in row.items()) for other in alike):
            yield f"{name}: {row} is not among {alike}"


def mean_of(value: Any) -> Any:
    """A line over time is asked for by its mean."""
    if not isinstance(value, list):
        return value
    numbers = [number or 0 for number in value]
    return sum(numbers) / len(numbers) if numbers else 0


# A rule names the columns of its query in its words.
FORMS = {"count": COUNT, "bytes": BYTES, "ns": TIME, "percent": PERCENT, "text": ".*"}
LAYERS = {"@io": "('stdio', 'posix')", "@code": "('app', 'python')", "@own": "('app', 'python', 'stdio', 'posix')"}
LAYERS |= {"@kernel": "('syscall', 'sched', 'vfs', 'fs', 'pagecache', 'block', 'net')", "@device": "('gpu')"}
LAYERS |= {"@undevice": "coalesce(layer NOT IN ('gpu'), true)"}


def query_of(rule: Path) -> str:
    lines = rule.read_text().split("-- evidence:")[0].splitlines()
    sql = "\n".join(line for line in lines if not line.startswith("-- "))
    return re.sub(r"@[a-z]+", lambda word: LAYERS[word[0]], sql)


def header_of(rule: Path, key: str) -> str:
    found = re.search(rf"^-- {key}: (.*(?:\n--   .*)*)$", rule.read_text(), re.MULTILINE)
    return re.sub(r"\n--   ", " ", found[1]) if found else ""


def rule_slips(rule: Path, says: str, gain: int | None, row: dict[str, Any]) -> Iterator[str]:
    """Numbers of the words that are not those of the rule's columns."""
    pattern, columns = "", []
    for text, column, form in re.findall(r"([^{]*)(?:\{(\w+):(\w+)[^}]*\})?", header_of(rule, "says")):
        pattern += re.escape(text)
        if column:
            pattern += f"({FORMS[form]})" + (r"(?: [a-z ]+?)?" if form == "count" else "(?: %)?")
            columns.append((column, form))
    match = re.fullmatch(pattern, says)
    if match is None:
        yield f"{says!r} is not as the rule {rule.stem} writes it"
        return
    for (column, form), text in zip(columns, match.groups(), strict=True):
        if form != "text" and not is_equal(text, row[column]):
            yield f"{text!r} in {says!r}: {column} is {row[column]}"
    if gain is not None and gain != round(float(row["gain"])):
        yield f"gain of {rule.stem} is {row['gain']}, told as {gain}"


LEFT_OUT = re.compile(r"(?:^|; )(\d+ of \d+) [a-z]+ shown; --top 0 shows all$")


def questions_of(overview: dict[str, Any], without: tuple[str, ...]) -> Questions:
    notes = overview.get("notes", {})
    texts = [line["text"] for line in overview["words"]] + [LEFT_OUT.sub("", note) for note in notes.values()]
    texts = [text for text in texts if text]
    names = [name for name in overview if name not in ("words", "insights", "notes", "units", *without)]
    unknown = [name for name in names if name not in TABLES]
    check("tables whose numbers have no question in tests/e2e/sentences.py", [], unknown)
    by_id = {header_of(rule, "id"): rule for rule in RULES}
    said = overview.get("insights", [])
    check("slips", [], list(slips_among([*texts, *(one["says"] for one in said)])))
    return Questions(
        claims=[claim for text in texts for claim in claims_of(text, WORDS)],
        tables=[(name, overview[name]) for name in names],
        rules=[(by_id[one["rule"]], one) for one in said],
        left_out={name: found[1] for name, note in notes.items() if (found := LEFT_OUT.search(note))},
    )


def advice_slips(summary: str, insights: list[dict[str, Any]]) -> Iterator[str]:
    """What a run's summary advises must be what a rule says of the recording."""
    lines = re.findall(r"^  advice: .+ \((.+)\)\n((?:    .+\n)*)", summary, re.MULTILINE)
    for rule, text in lines:
        words = re.sub(r"\s+", " ", text)
        said = [one for one in insights if one["rule"] == rule and re.sub(r"\s+", " ", one["says"]) in words]
        if not said:
            yield f"no rule says {words!r}"
            continue
        saved = re.search(rf"save up to ({TIME})", words)
        if saved and not is_equal(saved[1], said[0]["gain"]):
            yield f"gain of {said[0]['gain']} ns in {words!r}"


def check_recording(box: Box, trace: Path, summary: str = "", without: tuple[str, ...] = ()) -> None:
    overview = json.loads(box.fathom("report", trace, "--format", "json"))
    questions = questions_of(overview, without)
    questions.claims += summary_claims(summary)
    check("slips in a run's advice", [], list(advice_slips(summary, overview.get("insights", []))))
    check_questions(box, trace, questions)


def check_program(box: Box, *command: object, options: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> None:
    """Records a program and asks for every number of what `run` and `report` say of it."""
    process = box.start(box.kit.fathom, "run", *options, "-o", box.trace, "--", *command)
    _, said = box.finish(process)
    text = said.decode().partition("fathom: ")
    summary = text[1] + text[2]
    check("slips in the summary", [], [slip for line in summary.splitlines() for slip in slips(line)])
    check_recording(box, box.trace, summary, without)


def test_words_on_goldens(box: Box) -> None:
    for text in GOLDENS:
        trace = box.root / f"{text.stem}.fathom"
        box.fathom("import", text, "-o", trace)
        check_recording(box, trace)


def test_words_on_a_pipeline(box: Box) -> None:
    """Processes that exec, calls on pipes and on files."""
    check_program(box, "sh", "-c", "seq 1 20000 | sort -rn | tail -1; cat /etc/hostname /etc/passwd > out")


def test_words_on_threads(box: Box) -> None:
    check_program(box, box.kit.victim("storm"), 2, 3, 200)


def test_words_on_copies(box: Box) -> None:
    (box.dir / "source").write_bytes(bytes(256 << 10))
    check_program(box, box.kit.victim("bytes"), "ranges")


def test_words_on_sums_of_the_heap(box: Box) -> None:
    """Calls that are only added up are no events."""
    check_program(box, box.kit.victim("heap"), "work", 300, 2, 0, options=("--layers", "+heap"))


@alone("counts what the kernel does")
def test_words_on_the_kernel(box: Box) -> None:
    box.needs_layer("syscall")
    # Layers that see the same calls: which of them a row means, tests of the kernel's layers ask.
    without = ("top_functions",)
    check_program(box, box.kit.victim("storm"), 2, 3, 200, options=("--layers", "+syscall"), without=without)


def test_words_on_a_kits_programs(box: Box) -> None:
    victims = Path(os.environ.get("FATHOM_KITS", "")) / "victims"
    if not (victims / "regatta.c").exists():
        raise Skipped("FATHOM_KITS names no kits")
    (box.dir / "sounding.dat").write_bytes(bytes(4096))
    for name, *arguments in KIT_SCENES:
        program = box.kit.made(f"kit-{name}", "cc", "-g", "-O1", "-pthread", "-w", victims / f"{name}.c")
        box.trace = box.root / f"{name}-{'-'.join(arguments)}.fathom"
        check_program(box, program, *arguments)


def test_a_number_without_a_question_fails(box: Box) -> None:
    for sentence in ("It took 7 ducks.", "posix read took 3.00 s, 7 % of something new: 1 call."):
        try:
            claims = claims_of(sentence, WORDS)
        except Wrong:
            continue
        raise Failure(f"{sentence!r} passed: {claims}")


def test_slips_are_seen(box: Box) -> None:
    """The guard of sentences, on what it shall find and on what is right."""
    wrong = (
        "1 files",
        "2 process",
        "256.5 % of the time",
        "posix fsync took 6.99 ms: 1 call on x, 6.99 ms each.",
        "1 call of read (posix): 100 us in all, 100 us each.",
        "posix read took 100 us: 1 call on big, 1.00 MiB per call.",
        "The program opened 1 file 500 times each on average",
        "Longest waits: page fault in page fault in main 2.00 ms (10.0 %).",
    )
    right = (
        "posix fsync took 6.99 ms: 2 calls on 1 file, 2 calls, 3.50 ms each.",
        "8 steps took 200 ms each (the median), the slowest 300 ms.",
        "1 process, 1 thread, 3 events on each other.",
        "Longest waits: page fault in main 2.00 ms (10.0 %), sleep in nap 1 ms (5.0 %).",
    )
    check("found", {text: 1 for text in wrong}, {text: len(list(slips(text))) for text in wrong})
    check("not found", [], [slip for text in right for slip in slips(text)])
    first = "x: 1.00 s wall time, 1 process, {} on here."
    later = "The threads ran on a CPU for 1.0 % of their time and waited for 99.0 %."
    for threads, found in (("1 thread", 1), ("11 threads", 0)):
        check(threads, found, len(list(slips_among([first.format(threads), later]))))


ONE_CALL = "import os; file = os.open('x', os.O_CREAT | os.O_WRONLY); os.write(file, b'ahoy'); os.fsync(file)"


def words_of_view(box: Box, *view: str) -> list[str]:
    told = json.loads(box.fathom("report", box.trace, *view, "--format", "json"))
    return [line["text"] for line in told.get("words", [])]


def test_words_on_one_of_everything(box: Box) -> None:
    """One thread, one file, one call of a kind: in a report, in each view that has words, in info and a comparison."""
    check_program(box, "python3", "-S", "-c", ONE_CALL)
    (first,) = words_of_view(box, "explain", "--call", "fsync")[:1]
    check_true(f"one call has one time: {first}", re.fullmatch(rf"1 call of fsync \(posix\): (?:{TIME})\.", first))
    views = ("explain", "processes", "ranks", "patterns", "training", "cuda", "phases", "waits", "gpu-idle")
    check("slips in views", [], [slip for view in views for text in words_of_view(box, view) for slip in slips(text)])
    for command in (("report",), ("info",), ("diff", box.trace)):
        lines = box.fathom(command[0], *command[1:], box.trace).decode().splitlines()
        told = [slip for line in lines for slip in slips(line)]
        # A machine's CPUs and changes may well be above 100 %.
        check(f"slips in {command[0]}", [], [slip for slip in told if not slip.startswith("a share above")])
