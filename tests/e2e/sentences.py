# SPDX-License-Identifier: MIT
"""Every number that Fathom says, with the question in SQL that it must survive.

A sentence is matched as a whole by one of the forms below. Each number in a form has a name, and each name a question;
what stands in a form as text holds no number. So a sentence that no form matches is a number without a question: it
fails, until somebody writes its question here. Numbers in tables are asked for by table, row and column.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

TIME = r"\d+(?:\.\d+)? (?:ns|us|ms|s)|\d+m \d+s|\d+h \d+m"
BYTES = r"\d+(?:\.\d+)? (?:B|KiB|MiB|GiB|TiB)"
COUNT = r"\d+(?:\.\d+)?(?: [kMGT])?"
PERCENT = r"\d+(?:\.\d+)?"
UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
UNITS |= {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNITS |= {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class Wrong(Exception):
    """A number without a question."""


def shown(text: str) -> tuple[float, float]:
    """The value of a number as people read it, and what its last digit is worth."""
    value = last = 0.0
    for digits, unit in re.findall(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)", text):
        value += float(digits) * UNITS[unit]
        last = UNITS[unit] * 10.0 ** -len(digits.partition(".")[2])
    return value, last


def is_equal(text: str, truth: float | None) -> bool:
    value, last = shown(text)
    return truth is not None and abs(value - float(truth)) <= last


WALL = "(SELECT CAST(value AS BIGINT) FROM run WHERE key = 'duration_ns')"
LIFE = f'(SELECT sum(coalesce("end", {WALL}) - start) FROM threads)'
LIFE_OR_WALL = f"coalesce({LIFE}, {WALL})"
IN_CALLS = "(SELECT in_calls FROM totals)"
OF_CALL = "FROM summary WHERE layer = '{layer}' AND name = '{name}'"
EVENTS = "SELECT count(*) FROM events"
# An exec goes on; a pid may be given away again. What was imported tells nothing of both.
PROCESSES = "SELECT count(*) FILTER (image = 0) + count(DISTINCT (host, pid)) FILTER (image IS NULL) FROM processes"
THREADS = "SELECT count(DISTINCT (host, pid, tid)) FROM threads"
SHARE = "SELECT 100.0 * sum(self) / {} " + OF_CALL


def group(name: str, form: str) -> str:
    return rf"(?P<{name}>{form})"


WHOSE = (
    rf"(?:the (?:main thread's|threads') time|the time of {group('threads', COUNT)} threads"
    rf"(?: in {group('processes', COUNT)} processes)?)"
)


@dataclass(frozen=True)
class Form:
    """A sentence, and of each number in it the question. What has no question is a name: it is asked with."""

    pattern: str
    questions: dict[str, str] = field(default_factory=dict)


FIRST = {"wall": f"SELECT {WALL}", "processes": PROCESSES, "threads": THREADS, "events": EVENTS}
FIRST |= {"host": "SELECT value FROM run WHERE key = 'host'", "exit": "SELECT value FROM run WHERE key = 'exit'"}
ON_FILES = "FROM summary WHERE layer = '{layer}' AND name = '{name}' AND file IS NOT NULL"
CALLS = {
    "self": f"SELECT sum(self) {OF_CALL}",
    "of_wall": SHARE.format(WALL, layer="{layer}", name="{name}"),
    "of_threads": SHARE.format(LIFE, layer="{layer}", name="{name}"),
    "threads": THREADS,
    "processes": PROCESSES,
    "calls": f"SELECT sum(calls) {OF_CALL}",
    "some": f"SELECT sum(calls) {ON_FILES}",
    "files": f"SELECT count(DISTINCT file) {ON_FILES} AND file NOT LIKE '(%'",
    "peer": f"SELECT arg_max(peer, self) {OF_CALL}",
    "peers": f"SELECT count(DISTINCT peer) - 1 {OF_CALL}",
    "more": f"SELECT count(DISTINCT file) {ON_FILES} AND file NOT LIKE '(%'",
    "each": f"SELECT sum(self) / sum(calls) {OF_CALL}",
    "size": f"SELECT sum(bytes) FILTER (calls > 0) / sum(calls - errors) {OF_CALL}",
}
GPU = "FROM summary WHERE layer = 'gpu' AND category IS DISTINCT FROM 'sync'"
COST = {
    "cost": "SELECT CAST(value AS BIGINT) FROM run WHERE key = 'overhead.ns'",
    "percent": f"SELECT 100.0 * CAST(value AS BIGINT) / {LIFE} FROM run WHERE key = 'overhead.ns'",
    "each": "SELECT CAST(value AS DOUBLE) FROM run WHERE key = 'overhead.ns_per_event'",
}
# Neither what somebody asked to leave out, nor parts of events that are there.
MISSING = (
    "FROM losses WHERE NOT regexp_matches(reason, '^left out by --filter|^beyond the number asked for$|"
    "^text cut short$|^lengths cut short|^names and positions |^a file''s path (did|could) not |other files$|"
    "^stacks |^frames |^names of frames ')"
)
LOST = f'SELECT sum("count") {MISSING}'

# The account of all threads' time: of a state, in all and its longest parts.
STATES = "SELECT coalesce(sum(share), 0) FROM \"time\" WHERE state = '{}'"
LONGEST = 'SELECT {} FROM "time" WHERE state = \'{}\' ORDER BY "time" DESC, state, cause, name LIMIT 1 OFFSET {}'
MOST_LISTED = 3


def listed(title: str, state: str, name: str) -> Form:
    """Up to three parts of a state, the longest first."""
    parts = [rf"(?P<name{i}>.+?) (?P<time{i}>{TIME}) \((?P<share{i}>{PERCENT}) %\)" for i in range(MOST_LISTED)]
    asked = {"name": name, "time": '"time"', "share": "share"}
    questions = {f"{what}{i}": LONGEST.format(sql, state, i) for what, sql in asked.items() for i in range(MOST_LISTED)}
    return Form(rf"{title}: {parts[0]}(?:, {parts[1]}(?:, {parts[2]})?)?\.", questions)


OVERLAPS = (
    r"layers of the kernel \((?:(?:syscall|sched|vfs|fs|pagecache|kernel|block|net)(?:, )?)+\) measure the same calls "
    r"again, so shares can add up to more than 100 %"
)
WORDS = (
    Form(
        rf"The threads? ran on a CPU for {group('ran', PERCENT)} % of (?:their|its) time and waited for "
        rf"{group('waited', PERCENT)} %"
        rf"(?:; for {group('ready', PERCENT)} % (?:they|it) could have run, but had no CPU)?"
        rf"(?:; {group('rest', PERCENT)} % is unexplained)?\.",
        {
            "ran": STATES.format("running"),
            "waited": STATES.format("waiting"),
            "ready": STATES.format("ready"),
            "rest": STATES.format("unexplained"),
        },
    ),
    listed("Most CPU time", "running", "name"),
    listed(
        "Longest waits",
        "waiting",
        "CASE WHEN starts_with(name || ' ', cause || ' ') THEN name ELSE cause || ' in ' || name END",
    ),
    Form(
        rf".+: {group('wall', TIME)} wall time, {group('processes', COUNT)} process(?:es)?, "
        rf"{group('threads', COUNT)} threads?, {group('events', COUNT)} events?"
        rf"(?: on {group('host', '.+?')})?(?:, exit status {group('exit', COUNT)})?\.",
        FIRST,
    ),
    Form(
        rf"(?P<layer>[a-z]+) (?P<name>.+) took {group('self', TIME)}"
        rf"(?:, {group('of_wall', PERCENT)} % of the wall time)?"
        rf"(?:(?:, | \(){group('of_threads', PERCENT)} % of {WHOSE}\)?)?(?:, excluding nested calls)?: "
        rf"{group('calls', COUNT)} calls?(?:, {group('some', COUNT)} of them)?"
        rf"(?: on (?:(?P<peer>(?:pipe|socket|tty)\b.*?)(?:(?:,| and) {group('peers', COUNT)} other pipes? or sockets?)?"
        rf"(?: and (?:{group('more', COUNT)} files|(?P<one>.+?)))?|{group('files', COUNT)} files|(?P<file>.+?)))?"
        rf"(?:, {group('each', TIME)} each)?(?:, {group('size', BYTES)}(?: per call)?)?\.",
        CALLS,
    ),
    Form(
        rf"{group('outside', PERCENT)} % of {WHOSE} was outside recorded calls: CPU work, or waits that were not "
        r"recorded; 'fathom doctor' lists layers that show more\.",
        {
            "outside": f"SELECT 100.0 * ({LIFE} - {IN_CALLS}) / {LIFE}",
            "threads": THREADS,
            "processes": PROCESSES,
        },
    ),
    Form(
        rf"GPUs did {group('work', TIME)} of work \({group('works', COUNT)} (?:kernel or copy|kernels and copies)\) in "
        rf"the {group('range', TIME)} between their first and last activity; 'fathom report TRACE gpu-idle' shows what "
        r"the host did meanwhile\.",
        {
            "work": f"SELECT sum(dur) {GPU}",
            "works": f"SELECT sum(calls) {GPU}",
            "range": f'SELECT max("last") - min("first") {GPU}',
        },
    ),
    Form(r"Nothing was lost\.", {"": f'SELECT coalesce(sum("count"), 0) = 0 {MISSING}'}),
    Form(rf"Lost: {group('lost', COUNT)} events?; see Losses\.", {"lost": LOST}),
    Form(
        rf"Lost: parts of {group('lost', COUNT)} events?; see Losses\.",
        {"lost": f'SELECT (SELECT sum("count") FROM losses) - (SELECT coalesce(sum("count"), 0) {MISSING})'},
    ),
    Form(r"No call was recorded\.", {"": "SELECT coalesce(sum(calls), 0) = 0 FROM summary"}),
    Form(r"Layer (?P<layer>[a-z]+): (?P<reason>.+)\.", {"reason": "SELECT reason FROM layers WHERE layer = '{layer}'"}),
    Form(
        rf"Recording cost the program about {group('cost', TIME)}(?: \({group('percent', PERCENT)} % of its time\))?, "
        rf"{group('each', TIME)} per event\.",
        COST,
    ),
    Form(
        rf"wall: at least one thread was here, of {group('wall', TIME)}; self: excludes nested calls; total: includes "
        rf"them; {group('whole', COUNT)} % is {group('life', TIME)}, the lifetime of {group('threads', COUNT)} threads?"
        r"(?:; gpu: time of GPUs, which no thread spent)?" + rf"(?:; {OVERLAPS})?",
        {
            "wall": f"SELECT {WALL}",
            "whole": "SELECT 100",
            "life": f"SELECT coalesce({LIFE}, {WALL})",
            "threads": THREADS,
        },
    ),
    Form(OVERLAPS),
    Form(
        r"not recorded: (?P<layers>[a-z, ]+); 'fathom report TRACE layers' shows why",
        {"layers": "SELECT string_agg(layer, ', ') FROM layers WHERE state NOT IN ('on', 'partial') AND events = 0"},
    ),
    Form(r"[^0-9]+"),
)


@dataclass(frozen=True)
class Claim:
    """A number of a sentence, or the sentence itself, with its question."""

    sentence: str
    text: str  # "": the answer is whether the sentence is true
    question: str

    def is_true(self, truth: Any) -> bool:
        if self.text == "":
            return bool(truth)
        if isinstance(truth, str) and not re.fullmatch(r"-?\d+(?:\.\d+)?", truth):
            return self.text == truth
        return is_equal(self.text, truth)


def asked_with(question: str, names: dict[str, str]) -> str:
    for name, text in names.items():
        question = question.replace("{" + name + "}", text.replace("'", "''"))
    return question


def claims_of(sentence: str, forms: tuple[Form, ...]) -> list[Claim]:
    for form in forms:
        if match := re.fullmatch(form.pattern, sentence):
            found = {name: text for name, text in match.groupdict().items() if text is not None}
            named = [(name, found.get(name, ""), question) for name, question in form.questions.items()]
            kept = [(text, question) for name, text, question in named if text or name == ""]
            return [Claim(sentence, text, asked_with(question, found)) for text, question in kept]
    raise Wrong(f"no question for the numbers of {sentence!r}: write one in tests/e2e/sentences.py")


# Nouns that are counted. What stands behind them tells whether it is one of a pair, as in "1 kernel or copy".
NOUNS = (
    "file|call|thread|event|read|write|time|rank|open|recording|repetition|run|seek|sample|row|function|layer|budget|"
    "sync|host|program|region|metadata call|operation|allocation|copy|launch|kernel"
)
PLURALS = "processes|losses|flushes|directories|children|copies|launches"
ONE = re.compile(rf"(?<![\d.,:/-])1 (?:(?:{NOUNS})s|{PLURALS})\b")
# Some are verbs, too: "process 17 read 3 files".
SURE = "file|call|thread|event|rank|recording|repetition|row|function|layer|budget|host|program|process|directory|child"
MANY = re.compile(rf"(?<![\d.,:/-])(?!1 )\d[\d.,]*(?: [kMG])? (?:{SURE})\b(?! or| \w+s\b)")
COUNTED = re.compile(rf"(?<![\d.,:/-])(\d[\d.,]*(?: [kMG])?) ((?:{NOUNS}|process)s?|{PLURALS})\b")
EACH = re.compile(r"\beach\b(?! other)|\bper (?:call|read|write|file)\b")
TWICE = re.compile(r"\b(\w+(?: \w+)?) (in|of|for|on|by) \1 \2 ")
SHARES = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?) ?%")


def is_each_of_one(text: str) -> bool:
    """Whether "each", or "per call", stands behind one thing: of one there is nothing to divide."""
    for word in EACH.finditer(text):
        counts = [number for number, noun in COUNTED.findall(text[: word.start()]) if not noun.startswith("time")]
        if counts and counts[-1] == "1":
            return True
    return False


def slips(text: str) -> Iterator[str]:
    """Plurals of one, singulars of many, "each" of one, words said twice, shares above 100 %."""
    if is_each_of_one(text):
        yield f"each of one: {text!r}"
    if TWICE.search(text):
        yield f"said twice: {text!r}"
    if ONE.search(text):
        yield f"a plural of one: {text!r}"
    if MANY.search(text):
        yield f"a singular of many: {text!r}"
    if any(float(share) > 100.05 for share in SHARES.findall(text)):
        yield f"a share above 100 %: {text!r}"


def slips_among(sentences: list[str]) -> Iterator[str]:
    """Of all sentences of one recording: who is one in the first is not many in another."""
    if sentences and re.search(r", 1 thread\b", sentences[0]):
        yield from (f"one thread, told as many: {text!r}" for text in sentences if re.match(r"The threads\b", text))
    for text in sentences:
        yield from slips(text)


# What `fathom run` says at its end: a line for each row of its tables, told by the table's title.
OF_ROW = {
    "layer": "FROM summary WHERE layer = '{name}'",
    "function": "FROM summary WHERE name = '{name}' AND layer = '{layer}'",
    # What the program's own layers did adds up; of the kernel's, which see the same again, the longest stands for all.
    "file, pipe, socket": "FROM (SELECT layer, sum(calls) AS calls, sum(self) AS self, "
    "sum(bytes) AS bytes, "
    "max(layer IN ('app', 'python', 'posix', 'stdio')) OVER () AS is_own "
    "FROM summary WHERE coalesce(file, peer) = '{name}' GROUP BY layer "
    "QUALIFY CASE WHEN is_own THEN layer IN ('app', 'python', 'posix', 'stdio') "
    "ELSE row_number() OVER (ORDER BY sum(self) DESC) = 1 END)",
}
SUMMARY = (
    Form(
        rf"fathom: {group('wall', TIME)} wall time, {group('processes', COUNT)} process(?:es)?, "
        rf"{group('events', COUNT)} events?, nothing lost",
        {**FIRST, "": f'SELECT coalesce(sum("count"), 0) = 0 {MISSING}'},
    ),
    Form(
        rf"fathom: {group('wall', TIME)} wall time, {group('processes', COUNT)} process(?:es)?, "
        rf"{group('events', COUNT)} events?, some lost",
        FIRST,
    ),
    Form(
        rf"  lost: {group('lost', COUNT)} (?P<reason>.+) \((?P<layer>all layers|[a-z]+)\)",
        {
            "lost": "SELECT \"count\" FROM losses WHERE reason = '{reason}' "
            "AND layer = replace('{layer}', 'all layers', '')"
        },
    ),
    Form(r"  (?:recorded in|next:|not covered:|not recorded:|still running:|layer [a-z]+:) .+"),
    Form(r"  advice: .+|    .+"),  # words of a rule, which are asked for with the rule
    Form(r""),
)


ACCOUNT = "all threads' time"
OF_STATE = "SELECT {} FROM \"time\" WHERE state = '{}'{}"


def account_claims(line: str, row: re.Match[str]) -> list[Claim]:
    state, name, time, share = row.groups()
    if name and name.endswith("…"):  # a long name, cut short
        return []
    which = asked_with(" AND name = '{name}'", {"name": name}) if name and not name.startswith("(") else ""
    if name == "(other functions)":
        which = """ AND name NOT IN (SELECT name FROM "time" WHERE state = 'running' AND
                   name NOT LIKE '%(too short to be sampled)' ORDER BY "time" DESC, name LIMIT 5)"""
    asked = {'sum("time")': time, "sum(share)": share}
    return [Claim(line, text, OF_STATE.format(sum_, state, which)) for sum_, text in asked.items()]


def summary_claims(text: str) -> list[Claim]:
    """Of the lines of a run's summary."""
    claims, table = [], ""
    for line in text.splitlines():
        if re.fullmatch(rf"  {ACCOUNT} +time +share", line):
            table = ACCOUNT
        elif row := re.fullmatch(rf"  ([a-z]+) +(?:(\S.*?) {{2,}} *)?({TIME}) +({PERCENT}) %", line):
            claims += account_claims(line, row)
        elif head := re.fullmatch(r"  (layer|function|file, pipe, socket) +self +calls +bytes", line):
            table = head[1]
        elif row := re.fullmatch(rf"  (\S.*?) {{2,}}({TIME}) +({COUNT}) +({BYTES})?\s*", line) if table else None:
            claims += row_claims(line, table, row)
        else:
            table = "" if line == "" else table
            claims += claims_of(line, SUMMARY)
    return claims


def row_claims(line: str, table: str, row: re.Match[str]) -> list[Claim]:
    name, layer = row[1], ""
    if table == "function":
        name, layer = re.fullmatch(r"(.+) \(([a-z]+)\)", row[1]).groups()  # type: ignore[union-attr]
    if name.startswith("…"):  # a long name, cut short
        return []
    rest = asked_with(OF_ROW[table], {"name": name, "layer": layer})
    bytes_ = "sum(bytes)" if table == "file, pipe, socket" else "sum(bytes) FILTER (calls > 0)"
    asked = {"sum(self)": row[2], "sum(calls)": row[3], bytes_: row[4]}
    return [Claim(line, text, f"SELECT {sum_} {rest}") for sum_, text in asked.items() if text]


# Samples of counters as lines: what only grows by its growth in a second. {} are rows of (counter, line, grows, scale).
LINES = """
        WITH sources(counter, kind, grows, scale) AS (VALUES {}),
        raw AS (
          SELECT host, pid, ts, grows, CASE WHEN name SIMILAR TO 'gpu[0-9]+_.*'
                 THEN 'GPU ' || regexp_extract(name, '[0-9]+') || ' ' || kind ELSE kind END AS line,
                 sum(value * scale) AS value
          FROM counters JOIN sources ON counter = regexp_replace(name, '^gpu[0-9]+_', 'gpu_')
          WHERE layer = 'resource' GROUP BY ALL),
        steps AS (
          SELECT host, pid, line, CASE WHEN grows
                 THEN 1e9 * greatest(value - lag(value) OVER w, 0) / (ts - lag(ts) OVER w)
                 ELSE value END AS value FROM raw WINDOW w AS (PARTITION BY host, pid, line ORDER BY ts))
        SELECT s.pid, coalesce((SELECT arg_max(p.name, p.start) FROM processes p WHERE p.pid = s.pid), '') AS program,
               s.line, avg(s.value) AS mean, max(s.value) AS max, true AS over_time
        FROM steps s WHERE s.value IS NOT NULL GROUP BY s.host, s.pid, s.line"""

# Layers lie inside each other. What a program's events tell counts, or what it allocated if that took longer; without
# both, the first of the kernel's layers. What devices did is no time of threads.
NO_EVENTS = "('syscall', 'vfs', 'fs', 'pagecache', 'sched', 'user', 'heap', 'block', 'net', 'gpu')"
OUTERMOST = (
    f"coalesce(greatest(sum(self) FILTER (coalesce(layer NOT IN {NO_EVENTS}, true)), "
    "sum(self) FILTER (layer = 'heap')), "
    + ", ".join(
        f"sum(self) FILTER (layer = '{layer}')" for layer in ("syscall", "vfs", "fs", "pagecache", "sched", "user")
    )
    + ")"
)

KERNEL = "['syscall', 'vfs', 'fs', 'pagecache', 'kernel', 'block', 'net', 'sched']"


def once(table: str, *keys: str, in_file: bool = False) -> str:
    """A row `s` of the table whose calls no layer above has told of: the library of calls of this category on the file,
    a layer of the kernel of calls on the file."""
    same = " AND ".join(f"o.{key} IS NOT DISTINCT FROM s.{key}" for key in keys)
    if in_file:
        same += " AND o.file IS NOT DISTINCT FROM s.file"
    else:  # what is no file has a name in the kernel's layers alone
        same += (
            " AND (o.file = s.file OR NOT coalesce(o.file LIKE '/%', false) AND NOT coalesce(s.file LIKE '/%', false))"
        )
    place = f"list_position({KERNEL}, {{}}.layer)"
    return (
        f"(coalesce({place.format('s')}, 0) = 0 OR NOT EXISTS (SELECT 1 FROM {table} o WHERE {same} AND "
        f"(o.layer IN ('posix', 'stdio') AND o.category IS NOT DISTINCT FROM s.category "
        f"OR {place.format('o')} BETWEEN 1 AND {place.format('s')} - 1)))"
    )


# Of each table of the overview the same rows, asked anew. The first columns, texts and numbers of processes, are keys.
NOT_DEVICES = "coalesce(layer NOT IN ('gpu', 'block', 'net'), true)"
TABLES = {
    "time_by_layer": f"""
        WITH ends AS (
          SELECT layer, ts, ts + dur AS stop, max(ts + dur) OVER (
            PARTITION BY layer ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM events),
        walls AS (
          SELECT layer, sum(greatest(stop - greatest(ts, coalesce(before, ts)), 0)) AS wall FROM ends GROUP BY layer),
        covers AS (SELECT layer, sum(covered) AS wall FROM coverage GROUP BY layer)
        SELECT s.layer, coalesce(any_value(w.wall), any_value(c.wall)) AS wall, sum(self) AS self,
               CASE WHEN s.layer <> 'gpu' THEN 100.0 * sum(self) / {LIFE_OR_WALL} END AS share, sum(dur) AS total,
               sum(calls) AS calls, sum(errors) AS errors, sum(bytes) FILTER (calls > 0) AS bytes
        FROM summary s LEFT JOIN walls w USING (layer) LEFT JOIN covers c USING (layer) GROUP BY s.layer
        UNION ALL SELECT '(outside recorded calls)', NULL, {LIFE_OR_WALL} - in_calls,
               100.0 * ({LIFE_OR_WALL} - in_calls) / {LIFE_OR_WALL},
               NULL, NULL, NULL, NULL FROM totals
        WHERE NOT EXISTS (SELECT 1 FROM processes WHERE rung IS NOT NULL)""",
    "where_the_threads_time_went": 'SELECT state, cause, name, "time", share FROM "time"',
    "top_functions": f"""
        SELECT f.name, f.layer, f.self, CASE WHEN {NOT_DEVICES.replace("layer", "f.layer")} THEN
               100.0 * coalesce(f.self, 0) / {LIFE_OR_WALL} END AS share, f.total, f.calls, f.p50, f.p99, f.max, f.bytes
        FROM functions f""",
    "top_files": f"""
        SELECT file, coalesce({OUTERMOST}, sum(self)) AS time, 100.0 * time / {LIFE_OR_WALL} AS share,
               sum(calls) FILTER (once) AS calls, sum(errors) FILTER (once) AS errors,
               coalesce(sum(bytes) FILTER (once AND category = 'read'), 0) AS read,
               coalesce(sum(bytes) FILTER (once AND category = 'write'), 0) AS written,
               read // nullif(sum(calls) FILTER (once AND category = 'read' AND bytes IS NOT NULL), 0) AS per_read,
               written // nullif(sum(calls) FILTER (once AND category = 'write' AND bytes IS NOT NULL), 0) AS per_write
        FROM (SELECT *, {once("summary", "host", "pid", in_file=True)} AS once FROM summary s)
        WHERE file IS NOT NULL GROUP BY file""",
    "i_o_sizes": """
        SELECT layer, category, "from", sum(n) AS calls FROM (
          SELECT layer, category, unnest(sizes) AS n, CAST(CASE generate_subscripts(sizes, 1) WHEN 1 THEN 0
                 ELSE pow(2, generate_subscripts(sizes, 1) - 1) END AS BIGINT) AS "from"
          FROM summary WHERE category IN ('read', 'write') AND bytes IS NOT NULL) WHERE n > 0 GROUP BY ALL""",
    "i_o_latencies": """
        SELECT layer, category, "from", sum(n) AS calls FROM (
          SELECT layer, category, unnest(hist) AS n, CAST(CASE generate_subscripts(hist, 1) WHEN 1 THEN 0
                 ELSE pow(2, generate_subscripts(hist, 1) - 1) END AS BIGINT) AS "from"
          FROM summary WHERE category IN ('read', 'write') AND bytes IS NOT NULL) WHERE n > 0 GROUP BY ALL""",
    "layers_over_time": f"""
        SELECT layer, sum(self) AS busy, sum(calls) AS calls, coalesce(sum(bytes) FILTER (calls > 0), 0) AS bytes,
               CAST(sum(self) AS DOUBLE) / {WALL} AS threads FROM summary GROUP BY layer""",
    "processes": f"""
        WITH moves AS (
          SELECT host, pid, layer, file, category, ts, 1 AS call, self,
                 CASE category WHEN 'read' THEN bytes END AS read, CASE category WHEN 'write' THEN bytes END AS written
          FROM events
          UNION ALL SELECT host, pid, layer, file, category, ts, 0, NULL, NULL, bytes FROM events
          WHERE layer IN ('posix', 'syscall') AND name IN ('copy_file_range', 'sendfile', 'splice', 'tee') AND bytes > 0
          UNION ALL SELECT s.host, s.pid, layer, file, category, coalesce(p.start, greatest("first", b.begin)), calls,
                 self,
                 CASE category WHEN 'read' THEN bytes END, CASE category WHEN 'write' THEN bytes END
          FROM summary s LEFT JOIN processes p USING (process)
          LEFT JOIN (SELECT host, pid, min(start) AS begin FROM processes GROUP BY ALL) b
            ON b.pid = s.pid AND b.host IS NOT DISTINCT FROM s.host
          WHERE layer NOT IN (SELECT DISTINCT layer FROM events)),
        whose AS (
          SELECT m.*, p.start FROM moves m ASOF JOIN processes p
            ON p.pid = m.pid AND coalesce(p.host, '') = coalesce(m.host, '') AND p.start <= m.ts),
        sums AS (
          SELECT host, pid, start, {OUTERMOST} AS in_calls, sum(call) FILTER (once) AS calls,
                 sum(read) FILTER (once) AS read, sum(written) FILTER (once) AS written
          FROM (SELECT *, {once("whose", "host", "pid", "start")} AS once FROM whose s) GROUP BY ALL)
        SELECT p.host, p.pid, p.ppid, p.name, p.command, p.start, coalesce(p."end", {WALL}) - p.start AS wall, p.exit,
               s.in_calls, s.calls, s.read, s.written
        FROM processes p LEFT JOIN sums s
          ON s.pid = p.pid AND s.start = p.start AND s.host IS NOT DISTINCT FROM p.host""",
    "layers": "SELECT layer, state, events, reason FROM layers",
    "losses": 'SELECT layer, reason, "count" FROM losses',
    "cpu_over_time": LINES.format(
        "('cpu_user', 'cpu', true, 100.0), ('cpu_system', 'cpu', true, 100.0), "
        "('cgroup_cpu', 'control group', true, 1e-7), ('cpu_busy', 'machine', false, 1.0)"
    ),
    "memory_over_time": LINES.format(
        "('rss', 'rss', false, 1.0), ('pss', 'pss', false, 1.0), ('cgroup_memory', 'control group', false, 1.0), "
        "('memory_used', 'machine', false, 1.0)"
    ),
    "gpus_over_time": LINES.format(
        "('gpu_busy', 'busy', false, 1.0), ('gpu_memory_busy', 'memory busy', false, 1.0), "
        "('gpu_slowed', 'slowed by heat or power', false, 1.0), ('gpu_process_busy', 'busy', false, 1.0)"
    ),
    "memory_of_gpus_over_time": LINES.format(
        "('gpu_memory_used', 'used', false, 1.0), ('gpu_process_memory', 'used', false, 1.0)"
    ),
}
