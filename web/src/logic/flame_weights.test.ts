// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { isOfCalls, weightsOf } from "./flame_weights";

function added(...recordings: Parameters<typeof weightsOf>[0]): string[] {
  return weightsOf(recordings)
    .slice(5)
    .map(({ value }) => value);
}

test("events of samples and of regions are weights, and the same name is told apart", () => {
  const one = { sampled: ["cpu-clock", "page-faults"], onRegions: ["page-faults"] };
  assert.deepEqual(added(one), ["cpu-clock", "page-faults", "region:page-faults"]);
  assert.deepEqual(weightsOf([one]).at(-1), { value: "region:page-faults", title: "page-faults on regions" });
  assert.deepEqual(added({ sampled: [], onRegions: [] }), []);
  assert.deepEqual(added(), []);
});

test("two recordings compare by what both have", () => {
  const before = { sampled: ["cycles", "cpu-clock"], onRegions: ["task-clock"] };
  const after = { sampled: ["cpu-clock"], onRegions: ["page-faults"] };
  assert.deepEqual(added(before, after), ["cpu-clock"]);
});

test("boxes of calls and of regions are events, others are sampled functions", () => {
  assert.equal(isOfCalls("bytes"), true);
  assert.equal(isOfCalls("region:page-faults"), true);
  assert.equal(isOfCalls("page-faults"), false);
});
