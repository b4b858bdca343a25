# SPDX-License-Identifier: MIT
"""Flame graphs: as XML, against what SQL says, and in a browser, where somebody clicks, types and presses keys."""

import html
import json
import re
import subprocess
import xml.etree.ElementTree as Xml
from collections import Counter
from pathlib import Path
from typing import Any, List, Tuple

from kit import FATHOM, Failure, data_of_page, expect, page_in_browser, ran
from sampled import recorded

HEAD = """fathom recording 1
run host=alpha start=1700000000000000000 duration=1000000000 command=./work
process 7 name=work start=0 end=1000000000
thread 7/7 start=0 end=1000000000
"""


def made(root: Path, name: str, *stacks: Tuple[int, str]) -> Path:
    """A recording of samples: weight and stack, as a recording's text has it."""
    lines = [
        f'sample 7/7 {at} cpu-clock weight={weight} stack="{stack}"\n' for at, (weight, stack) in enumerate(stacks)
    ]
    text, trace = root / f"{name}.txt", root / f"{name}.fathom"
    text.write_text(HEAD + "".join(lines))
    ran(FATHOM, "import", text, "-o", trace)
    return trace


def picture(trace: Path, *options: Any) -> Path:
    out = trace.with_suffix(".svg")
    ran(FATHOM, "export", trace, "--format", "flamegraph", "-o", out, *options)
    return out


def local(tag: str) -> str:
    return tag.rpartition("}")[2]


def frames_of(svg: Path) -> List[Tuple[str, float]]:
    """Name and width in percent of every group that has a title and a rectangle, and nothing else of the kind."""
    found = []
    for group in Xml.fromstring(svg.read_bytes()).iter():
        inside = {local(child.tag): child for child in group}
        if "title" in inside and "rect" in inside:
            name = (inside["title"].text or "").split("\n")[0]
            found.append((name, float(inside["rect"].get("width", "").rstrip("%"))))
    return found


def test_flames_are_as_wide_as_the_tree_says(root: Path) -> None:
    trace = recorded(root)
    tree = json.loads(ran(FATHOM, "report", trace, "tree", "--layers", "cpu", "--top", "0", "--format", "json"))
    wanted: Counter = Counter()
    for row in tree["call_tree"]:
        wanted[row["call"]] += row["share"]
    got: Counter = Counter()
    for name, width in frames_of(picture(trace)):
        got[name] += width
    expect("width of all", 100.0, got.pop("all"))
    expect("width of programs", 100.0, round(got.pop("work") + got.pop("helper", 0), 2))
    # Shares below a hundredth of a percent are too narrow to be drawn.
    wanted = Counter({name: share for name, share in wanted.items() if share > 0.01})
    expect("functions", set(wanted), set(got))
    for name, share in wanted.items():
        expect(f"width of {name}: {got[name]} is {share}", True, abs(got[name] - share) < 0.001)


def test_flames_of_waits_and_of_both(root: Path) -> None:
    trace = recorded(root)
    waits = dict(frames_of(picture(trace, "--weight", "off-cpu")))
    expect("waits", True, "futex_wait" in waits and "step" not in waits)
    both = dict(frames_of(picture(trace, "--weight", "all")))
    expect("both", True, {"cpu-clock", "off-cpu", "futex_wait", "step"} <= set(both))
    expect("filters leave a process", {"all", "helper", "main"}, set(dict(frames_of(picture(trace, "--pid", "8")))))
    part = picture(trace, "--from", "0.000002", "--to", "0.0000031", "--pid", "7")
    expect("filters leave a time", ["step", 'sort<a, "b">'], [name for name, _ in frames_of(part)][-2:])


def test_flames_of_hostile_names(root: Path) -> None:
    names = ["<b>&amp", "'quoted'", "größe 日本", "]]>--><script>alert(1)</script>", "a\\tb"]
    trace = made(root, "hostile", (5, ";".join(names)))
    got = [name for name, _ in frames_of(picture(trace))]
    expect("names", [*names[:4], "a\\tb"], got[2:])
    page = root / "hostile.html"
    ran(FATHOM, "export", trace, "--format", "html", "-o", page)
    expect("scripts of the page: its data, and its own", 2, page.read_text().count("<script"))
    flame = data_of_page(page)["answers"]["/flame?weight=cpu&invert=0"]
    expect("names in the page", [], [name for name in [*names[:4], "a\tb"] if name not in flame["names"]])


def test_flames_without_samples_say_what_to_do(root: Path) -> None:
    text, trace, out = root / "none.txt", root / "none.fathom", root / "none.svg"
    text.write_text(HEAD + "event 7/7 0 +5 app step\n")
    ran(FATHOM, "import", text, "-o", trace)
    words = [str(FATHOM), "export", str(trace), "--format", "flamegraph", "-o", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    expect("status, file", (3, False), (done.returncode, out.exists()))
    expect("one line", 1, len(done.stderr.splitlines()))
    expect("what to do", True, "fathom run -- CMD" in done.stderr and "--weight calls" in done.stderr)
    expect("calls", ["all", "work", "step"], [name for name, _ in frames_of(picture(trace, "--weight", "calls"))])


def test_flames_of_deep_and_of_many_stacks(root: Path) -> None:
    deep = made(root, "deep", (5, ";".join(["main", *["again"] * 10_000])))
    many = made(root, "many", *((1, f"main;f{number};g{number}") for number in range(20_000)))
    for trace, words in ((deep, "below level 1000"), (many, "narrow frames")):
        svg = picture(trace)
        expect(f"{trace.stem} tells what is left out", True, words in svg.read_text())
        expect(f"{trace.stem} is small", True, svg.stat().st_size < 2_000_000)
        frames_of(svg)


# What somebody does with the picture: a script at its end does it, and leaves what it saw in an attribute.
ACTS = """
(() => {
  const root = document.querySelector("svg.flame");
  const groups = [...root.querySelectorAll(".frames > g")];
  const name = (group) => group.querySelector("title").textContent.split("\\n")[0];
  const find = (wanted) => groups.find((group) => name(group) === wanted);
  const shown = () => groups.filter((group) => group.style.display !== "none").map(name);
  const width = (wanted) => Math.round(parseFloat(find(wanted).querySelector("rect").getAttribute("width")));
  const press = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  const said = {};
  const visible = root.querySelector(".tools").getBoundingClientRect();
  said.tools = visible.width > 100 && visible.height > 10;
  said.before = [width("left"), width("right")];
  find("right").dispatchEvent(new MouseEvent("click", {bubbles: true}));
  said.zoomed = [shown(), width("main"), width("right")];
  said.label = find("inner").querySelector("text").textContent;
  root.querySelector("button").click();
  said.reset = [shown().length, width("left"), width("right")];
  const input = root.querySelector("input");
  input.value = "RIGHT";
  input.dispatchEvent(new Event("input"));
  said.found = [root.querySelector("output").textContent, groups.filter((one) => one.matches(".hit")).map(name)];
  input.value = "";
  input.dispatchEvent(new Event("input"));
  said.nothing = [root.querySelector("output").textContent, root.matches(".searching")];
  said.reachable = groups.filter((group) => group.getAttribute("tabindex") === "0").map(name);
  press("Home");
  said.way = ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowDown"].map((key) => {
    press(key);
    return name(document.activeElement);
  });
  press("Enter");
  said.by_key = shown();
  press("Escape");
  said.back = shown().length;
  find("right").dispatchEvent(new PointerEvent("pointerover"));
  said.detail = root.querySelector(".detail").textContent;
  press("/");
  said.focus = document.activeElement.localName;
  said.fits = [...root.querySelectorAll(".frames text")].filter((text) =>
    text.getComputedTextLength() > text.parentNode.getBoundingClientRect().width + 7).length;
  document.documentElement.setAttribute("data-said", JSON.stringify(said));
})();
"""

SEEN = {
    "tools": True,
    "before": [60, 40],
    "zoomed": [["all", "work", "main", "right", "inner"], 100, 100],
    "label": "inner",
    "reset": [7, 60, 40],
    "found": ["2 frames, 60.0 % of the whole", ["upright", "right"]],
    "nothing": ["", False],
    "reachable": ["right"],
    "way": ["work", "main", "left", "right", "main", "left"],
    "by_key": ["all", "work", "main", "left", "upright"],
    "back": 7,
    "detail": "right · 40 ns, 40.00 %, self 25 ns · C, C++, a.out",
    "focus": "input",
    "fits": 0,
}


def said_in(page: str, said: str) -> Any:
    if "Uncaught" in said or "Refused" in said:
        raise Failure(f"the browser says {said[-300:]}")
    found = re.search(r'data-said="([^"]*)"', page)
    if found is None:
        raise Failure("the script of the test did not come to its end")
    return json.loads(html.unescape(found[1]))


def test_flames_in_a_browser(root: Path) -> None:
    stacks = ((25, "main!a.out;right!a.out"), (15, "main!a.out;right!a.out;inner!a.out"))
    left = ((40, "main!a.out;left!a.out"), (20, "main!a.out;left!a.out;upright!a.out"))
    trace = made(root, "clicked", *stacks, *left)
    svg = picture(trace)
    body = svg.read_text().rstrip()[: -len("</svg>")]
    svg.write_text(f"{body}<script><![CDATA[{ACTS}]]></script></svg>")
    expect("in a file", SEEN, said_in(*page_in_browser(f"file://{svg}", "--window-size=1200,800")))


def test_flames_of_a_difference(root: Path) -> None:
    before = made(root, "before", (50, "main!old;same!old"), (40, "main!old;less!old"), (10, "main!old;gone!old"))
    after = made(root, "after", (500, "main!new;same!new"), (200, "main!new;less!new"), (300, "main!new;more!new"))
    svg = picture(after, "--differential", before)
    expect("labels", ["main (+0.0)", "same (+0.0)", "more (+30.0)", "less (-20.0)"], [n for n, _ in frames_of(svg)][2:])
    styles = re.findall(r'<g class="(\w+)"><title>(\w+)', svg.read_text())
    red, blue = (
        {name for style, name in styles if style in steps} for steps in (("d4", "d5", "d6"), ("d0", "d1", "d2"))
    )
    expect("red and blue", ({"more"}, {"less"}), (red, blue))
    expect("what is gone", True, "10.0 % of the other's time" in svg.read_text())
    same = picture(after, "--differential", after)
    expect("no change", set(), set(re.findall(r'<g class="(d[0124567])"><title>', same.read_text())))
