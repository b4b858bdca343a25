// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { inSlices } from "./slices";

// A clock on which each step takes some time.
function steps(count: number, ms: number) {
  let [time, made] = [0, 0];
  function* work(): Generator<void, string> {
    for (; made < count; ++made) {
      time += ms;
      yield;
    }
    return "done";
  }
  return { work: work(), now: () => time, made: () => made };
}

const later = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

test("short work is done at once", () => {
  const { work, now } = steps(7, 1);
  const said: string[] = [];
  inSlices(work, new AbortController().signal, (text) => said.push(text), now);
  assert.deepEqual(said, ["done"]);
});

test("long work lets others in, and can be ended", async () => {
  const long = steps(100, 1);
  const said: string[] = [];
  inSlices(long.work, new AbortController().signal, (text) => said.push(text), long.now);
  assert.ok(long.made() < 10 && said.length === 0, `${long.made()} steps in one part`);
  for (let wait = 0; said.length === 0 && wait < 100; ++wait) await later();
  assert.deepEqual(said, ["done"]);

  const ended = steps(100, 1);
  const control = new AbortController();
  inSlices(ended.work, control.signal, (text) => said.push(text), ended.now);
  control.abort();
  await later();
  assert.ok(ended.made() < 10);
  assert.deepEqual(said, ["done"]);
});
