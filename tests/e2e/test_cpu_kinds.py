# SPDX-License-Identifier: MIT
"""Layer cpu names the functions of programs of every kind: how they are linked, by which libc, of which language.

Each program computes in `major` three times as long as in `minor`. At 997 Hz over about half a second of CPU time the
share of `major` is 3/4 with a deviation of 0.02; the bound is five times that.
"""

import os
import shutil
from pathlib import Path

from kit import Box, Skipped, check_true

GO = """\
package main

import "os"

//go:noinline
func major(x float64, turns int) float64 {
	for i := 0; i < turns; i++ {
		x = x*0.999 + float64(i)
	}
	return x
}

//go:noinline
func minor(x float64, turns int) float64 {
	for i := 0; i < turns; i++ {
		x = x*0.999 + float64(i)
	}
	return x
}

func main() {
	x := 1.0
	for i := 0; i < 100; i++ {
		x = major(x, 900000)
		x = minor(x, 300000)
	}
	if x < 0 {
		os.Exit(1)
	}
}
"""
RUST = """\
#[inline(never)]
fn major(mut x: f64, turns: u64) -> f64 {
    for i in 0..turns { x = x * 0.999 + i as f64; }
    x
}

#[inline(never)]
fn minor(mut x: f64, turns: u64) -> f64 {
    for i in 0..turns { x = x * 0.999 + 1.0 + i as f64; }
    x
}

fn main() {
    let mut x = 1.0;
    for _ in 0..100 {
        x = major(x, 900000);
        x = minor(x, 300000);
    }
    if x < 0.0 { std::process::exit(1); }
}
"""
FLAGS = (
    ("-fno-omit-frame-pointer",),
    ("-O2", "-fomit-frame-pointer"),
    ("-O2", "-g0"),
    ("-static",),
    ("-static-pie",),
    ("-no-pie",),
)


def need(tool: str, *places: Path) -> str:
    found = shutil.which(tool) or next((str(place) for place in places if os.access(place, os.X_OK)), None)
    if found is None:
        raise Skipped(f"no {tool} here")
    return found


def check_shares(box: Box, *command: object, caller: str = "main") -> None:
    box.record(*command, options=("--sample", "997", "--force"))
    if box.value("SELECT state FROM layers WHERE layer = 'cpu'") != "on":
        raise Skipped(str(box.value("SELECT reason FROM layers WHERE layer = 'cpu'")))
    ends = [(name.split("::")[-1].split(".")[-1], self, total) for name, self, total in rows_of(box)]
    own = {name: sum(self for end, self, _ in ends if end == name) for name in ("major", "minor")}
    both = sum(own.values())
    check_true(f"major and minor have a name: {ends}", both > 0)
    share = own["major"] / both
    check_true(f"share of major: {share:.3f} is 3/4 within 0.1", abs(share - 0.75) < 0.1)
    below = max((total for end, _, total in ends if end == caller), default=0)
    check_true(f"{caller} calls both: {below} of {both}", below > 0.9 * both)


def rows_of(box: Box) -> list[tuple[str, int, int]]:
    rows = box.rows('SELECT "function", self, total FROM hot')
    return [(str(name), int(self), int(total)) for name, self, total in rows]


def test_linked(box: Box) -> None:
    for flags in FLAGS:
        check_shares(box, box.kit.victim("kinds", *flags))


def test_musl(box: Box) -> None:
    for flags in ((), ("-static",)):
        check_shares(box, box.kit.victim("kinds", *flags, compiler=need("musl-gcc")))


def test_opened_late(box: Box) -> None:
    plugin = box.kit.victim("kinds", "-DPLUGIN", "-shared", "-fPIC")
    check_shares(box, box.kit.victim("kinds", "-DHOST"), plugin)


def test_go(box: Box) -> None:
    go = need("go", Path("/usr/local/go/bin/go"))
    (box.root / "kinds.go").write_text(GO)
    env = {**os.environ, "GOCACHE": str(box.kit.programs / "go-cache"), "GO111MODULE": "off", "GOFLAGS": ""}
    box.run(go, "build", "-o", box.root / "kinds", box.root / "kinds.go", env=env)
    check_shares(box, box.root / "kinds")


def test_rust(box: Box) -> None:
    rustc = need("rustc")
    (box.root / "kinds.rs").write_text(RUST)
    box.run(rustc, "-O", "-g", "-o", box.root / "kinds", box.root / "kinds.rs")
    check_shares(box, box.root / "kinds")
