// SPDX-License-Identifier: MIT
// The program fills the same texts when it writes a page with its answers: the cases are those of
// src/serve/page/statement_text_test.cc.
import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "../../statement_cases.json";
import { filledText, type Values } from "./statements";

interface Case {
  text: string;
  values: Values;
  filled?: string;
  needs?: string;
}

test("statements are filled as by the program", () => {
  assert.ok(cases.length > 5);
  for (const { text, values, filled, needs } of cases as Case[]) {
    if (needs) assert.throws(() => filledText(text, values), new RegExp(`^Error: the statement needs ${needs}$`));
    else assert.equal(filledText(text, values), filled);
  }
});

test("whole numbers and texts in quotes are filled in", () => {
  assert.equal(filledText("{n} {text} {all}", { n: 1.6, text: "it's", all: ["a", 2] }), "2 'it''s' ['a', 2]");
});
