// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, nothingSelected, ofAnotherRecording, selectionOf, type Selection } from "./hash";

const full: Selection = {
  view: "timeline",
  recording: "a b/c",
  from: 10,
  to: 2 ** 50,
  hosts: ["a,b", "ü&?#"],
  pids: [7],
  tids: [70, 71],
  layers: ["posix"],
  where: "name = 'x'",
  settings: { "flame.weight": "bytes" },
};

test("a selection survives the address", () => {
  assert.deepEqual(selectionOf(hashOf(full)), full);
  assert.deepEqual(selectionOf(hashOf(nothingSelected)), nothingSelected);
  assert.deepEqual(selectionOf(""), nothingSelected);
});

test("an address of nonsense selects everything", () => {
  assert.deepEqual(selectionOf("#%E0%A4%A"), nothingSelected);
  const odd = selectionOf("#flame?from=9&to=3&pid=x&tid=-1&from=1e9&layer=");
  assert.deepEqual([odd.from, odd.to, odd.pids, odd.tids], [null, null, [], []]);
  assert.equal(selectionOf("#x?from=99999999999999999").from, null);
});

test("another recording has no time, process, track or call of the one before", () => {
  const settings = {
    ...full.settings,
    "timeline.at": "1-2",
    "timeline.pin": "3",
    "explain.call": "x",
    "flame.zoom": "y",
  };
  const other = ofAnotherRecording({ ...full, settings }, "b");
  const nothing = { from: null, to: null, hosts: [], pids: [], tids: [] };
  assert.deepEqual(other, { ...full, ...nothing, recording: "b" });
});
