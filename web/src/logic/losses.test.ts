// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { lossesOf } from "./losses";

test("one lost event is one", () => {
  assert.deepEqual(lossesOf(0), []);
  assert.deepEqual(lossesOf(1), ["1 event"]);
  assert.deepEqual(lossesOf(1234), ["1,234 events"]);
});
