// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { clicked, withTracks } from "./track_selection";

const nothing = { hosts: [], pids: [], tids: [] };
const process = { kind: "process", host: "a", name: "p", pid: 7, tid: null } as const;
const thread = { kind: "thread", host: "a", name: "t", pid: 7, tid: 70 } as const;
const host = { kind: "host", host: null, name: "a", pid: null, tid: null } as const;

test("a click selects a track, a second one lets go", () => {
  assert.deepEqual(clicked(nothing, process), { pids: [7] });
  assert.deepEqual(clicked({ ...nothing, pids: [7] }, process), { pids: [] });
  assert.deepEqual(clicked(nothing, thread), { tids: [70] });
  assert.deepEqual(clicked(nothing, host), { hosts: ["a"] });
  assert.deepEqual(clicked(nothing, { ...thread, tid: null }), {});
});

test("several tracks are selected together, beside what was selected", () => {
  assert.deepEqual(withTracks({ ...nothing, tids: [71] }, [thread, { ...thread, tid: 72 }, thread]), {
    tids: [71, 70, 72],
  });
  assert.deepEqual(withTracks(nothing, [process, thread]), { pids: [7], tids: [70] });
  assert.deepEqual(withTracks({ ...nothing, pids: [7] }, []), {});
});
