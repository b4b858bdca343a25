// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Recording } from "../api/types";
import { countRuns, idsIn, pairOf, runsOf, toggledId, unknownIds, without } from "./sides";

const all = ["a", "b", "c", "d, e"].map((id) => ({ id, ...(id === "b" ? { runs: 4 } : {}) }) as Recording);
const [a, b, c, d] = all as [Recording, Recording, Recording, Recording];

test("a side has each recording once, and none of the other", () => {
  const grown = { ...b, events: 7 }; // another object, of the same recording
  assert.deepEqual(runsOf(a, "", all, [grown]), [a]);
  assert.deepEqual(runsOf(a, "d, e\na\nb\nghost\nc", all, [grown]), [a, c, d]);
  assert.deepEqual(without(all, [grown, { ...d }]), [a, c]);
});

test("the first recording is before the second, and before any other that is the current one", () => {
  const grown = { ...a, events: 7 };
  assert.deepEqual(pairOf(all, grown, ""), { before: grown, after: b });
  assert.deepEqual(pairOf(all, b, ""), { before: a, after: b });
  assert.deepEqual(pairOf(all, c, ""), { before: a, after: c });
  assert.deepEqual(pairOf(all, a, "c"), { before: c, after: a });
  assert.deepEqual(pairOf(all, c, "c"), { before: c, after: a });
  assert.deepEqual(pairOf(all, c, "ghost"), { before: a, after: c });
  assert.equal(pairOf([a], a, ""), null);
  assert.equal(pairOf([], a, ""), null);
});

test("a recording comes and goes", () => {
  assert.equal(toggledId("", "d, e"), "d, e");
  assert.equal(toggledId("d, e", "c"), "d, e\nc");
  assert.equal(toggledId("d, e\nc", "d, e"), "c");
  assert.equal(toggledId("c", "c"), null);
  assert.deepEqual(idsIn(""), []);
});

test("ids that no recording has are told", () => {
  assert.deepEqual(unknownIds("a\n\nghost\nd, e\nb\nb2", all), ["ghost", "b2"]);
  assert.deepEqual(unknownIds("", all), []);
});

test("a directory counts as many runs as it has", () => {
  assert.equal(countRuns([a, b, c]), 6);
});
