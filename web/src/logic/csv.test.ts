// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText, isFormula } from "./csv";
import { escapeCell, escapeName } from "./escape";

test("fields are quoted where RFC 4180 says so", () => {
  const text = csvText(
    ["a", "b,c"],
    [
      ["x", 'say "no"'],
      ["two\nlines", ""],
      [null, 1.5],
      [true, [1, 2]],
    ],
  );
  assert.equal(text, 'a,"b,c"\nx,"say ""no"""\n"two\nlines",""\n,1.5\ntrue,"[1,2]"\n');
});

test("what a spreadsheet would compute gets an apostrophe; numbers do not", () => {
  for (const text of [
    "=1+1",
    "+cmd",
    "-cmd",
    "@sum",
    " =1",
    "\t=1",
    "\u00a0=1",
    "\u3000＝1",
    "－x",
    "\tx",
    "+1",
    "-1x",
  ]) {
    assert.ok(isFormula(text), text);
  }
  for (const text of ["a=1", "-1", "-1.5e3", "", "1-2", " x"]) assert.ok(!isFormula(text), text);
  assert.equal(csvText(["=h"], [["=cmd|x"], [-3]]), "'=h\n'=cmd|x\n-3\n");
});

test("names lose the power to steer a display", () => {
  assert.equal(escapeName("a\nb\tc"), "a\\nb\\tc");
  assert.equal(escapeName("\u001b[31m"), "\\x1b[31m");
  assert.equal(escapeName("photo\u202egpj.exe"), "photo\\u{202e}gpj.exe");
  assert.equal(escapeName("déjà 測"), "déjà 測");
  assert.equal(escapeName("<script>alert(1)</script>"), "<script>alert(1)</script>");
});

test("two names that differ look different", () => {
  assert.equal(escapeName("a\\nb"), "a\\\\nb");
  assert.equal(escapeName("\\\n"), "\\\\\\n");
  assert.equal(escapeName("\\x1b"), "\\\\x1b");
  assert.equal(escapeName("\\xff"), "\\xff", "how a recording keeps a byte that is not UTF-8");
  assert.equal(escapeName("C:\\dir"), "C:\\dir");
});

test("a cell of CSV keeps lines and tabs", () => {
  assert.equal(escapeCell("a\nb\t\u0007"), "a\nb\t\\x07");
});
