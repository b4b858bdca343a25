// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "./report";
import { longestThreads } from "./thread_rows";

function thread(tid: number, wall: number, more: object = {}): Report[string] {
  return [{ pid: 7, tid, name: `t${tid}`, start: 0, wall, rank: null, ...more }];
}

function report(...rows: Report[string][]): Report {
  return { threads: rows.flat() } as unknown as Report;
}

test("the longest lives are shown, the others are one row with the sums of their states", () => {
  const rows = longestThreads(
    report(
      thread(1, 10, { running: 4, waiting: 5, ready: 0 }),
      thread(2, 30, { running: 30, waiting: 0, ready: 0 }),
      thread(3, 20, { running: 2, waiting: 8, ready: 10 }),
      thread(4, 5),
    ),
    2,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["t2", "t3", "2 others"],
  );
  assert.deepEqual(rows[0]!.states, [{ name: "running", time: 30 }]);
  assert.equal(rows[2]!.life, 15);
  assert.deepEqual(rows[2]!.states, [
    { name: "running", time: 4 },
    { name: "waiting", time: 5 },
    { name: "unexplained", time: 1 },
    { name: "not sampled", time: 5 },
  ]);
  for (const { states, life } of rows)
    assert.equal(
      states.reduce((sum, { time }) => sum + time, 0),
      life,
    );
});

test("ranks come first, in their order", () => {
  const rows = longestThreads(report(thread(1, 30), thread(2, 10, { rank: 1 }), thread(3, 20, { rank: 0 })), 12);
  assert.deepEqual(
    rows.map(({ tid }) => tid),
    [3, 2, 1],
  );
  assert.deepEqual(rows[0]!.states, [], "nobody sampled it");
  assert.deepEqual(longestThreads({}, 12), []);
});
