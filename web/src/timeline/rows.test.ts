// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Track } from "../api/types";
import { ancestorsOf, between, groupOf, pathOf, rowsOf, totalHeight, type Shown } from "./rows";

function track(id: number, parent: number | null, kind: Track["kind"], more: Partial<Track> = {}): Track {
  const plain = { host: "a", pid: null, tid: null, rank: null, from: 0, to: 1, events: 1, depth: 1 };
  return { id, parent, kind, name: `${kind} ${id}`, ...plain, ...more };
}

const tracks = [
  track(1, null, "host", { events: 0, depth: 0 }),
  track(2, 1, "process", { pid: 7, events: 0, depth: 0 }),
  track(3, 2, "thread", { pid: 7, tid: 70, depth: 4 }),
  track(4, 3, "samples", { pid: 7, tid: 70 }),
  track(5, 2, "thread", { pid: 7, tid: 71 }),
  track(6, 1, "process", { pid: 8, events: 0, depth: 0 }),
  track(7, 6, "thread", { pid: 8, tid: 80 }),
  track(8, 6, "counter", { pid: 8, depth: 0 }),
];

const everything: Shown = { collapsed: new Set(), opened: new Set(), pinned: [], hosts: [], pids: [], tids: [] };

function ids(shown: Partial<Shown>): number[] {
  return rowsOf(tracks, { ...everything, ...shown }).map((row) => row.track.id);
}

test("rows follow the order of the server and touch each other", () => {
  const rows = rowsOf(tracks, everything);
  assert.deepEqual(
    rows.map((row) => row.track.id),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  assert.deepEqual(
    rows.map((row) => row.level),
    [0, 1, 2, 3, 2, 1, 2, 2],
  );
  for (const [at, row] of rows.entries()) assert.equal(row.y, at === 0 ? 0 : rows[at - 1]!.y + rows[at - 1]!.height);
  assert.equal(rows[2]!.lines, 4);
  assert.ok(rows[2]!.height > 4 * 18);
});

test("a collapsed process hides what is below it; a collapsed thread keeps its first line", () => {
  assert.deepEqual(ids({ collapsed: new Set([2]) }), [1, 2, 6, 7, 8]);
  assert.deepEqual(ids({ collapsed: new Set([3]) }), [1, 2, 3, 5, 6, 7, 8]);
  const rows = rowsOf(tracks, { ...everything, collapsed: new Set([3]) });
  assert.equal(rows.find((row) => row.track.id === 3)?.lines, 1);
});

test("pinned tracks stand on top, once more, even if they are not selected", () => {
  assert.deepEqual(ids({ pinned: [7, 99] }), [7, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(ids({ pinned: [7], pids: [7] }), [7, 1, 2, 3, 4, 5]);
});

test("only selected processes and threads are shown, with what they belong to", () => {
  assert.deepEqual(ids({ pids: [8] }), [1, 6, 7, 8]);
  assert.deepEqual(ids({ tids: [71] }), [1, 2, 5]);
  assert.deepEqual(ids({ hosts: ["b"] }), []);
});

test("the rows on screen are found among ten thousand", () => {
  const many = Array.from({ length: 10_000 }, (_none, at) => track(at + 1, null, "thread"));
  const rows = rowsOf(many, everything);
  const [first, last] = between(rows, 5000, 5800);
  assert.ok(rows[first]!.y <= 5000 && rows[first]!.y + rows[first]!.height > 5000);
  assert.ok(rows[last - 1]!.y < 5800 && rows[last]!.y >= 5800);
  assert.deepEqual(between(rows, totalHeight(rows) + 1, totalHeight(rows) + 9), [10_000, 10_000]);
  assert.deepEqual(between([], 0, 100), [0, 0]);
});

test("a track tells what it belongs to", () => {
  const byId = new Map(tracks.map((each) => [each.id, each]));
  assert.deepEqual(pathOf(tracks[3]!, byId), ["host 1", "process 2", "thread 3", "samples 4"]);
});

test("counters stand below what they count, wherever the server has them", () => {
  const moved = [tracks[0]!, track(9, 1, "counter", { depth: 0 }), ...tracks.slice(1, 6), tracks[7]!, tracks[6]!];
  const rows = rowsOf(moved, everything);
  assert.deepEqual(
    rows.map((row) => row.track.id),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

test("of a deep track the outer levels are shown until it is opened", () => {
  const deep = [track(1, null, "thread", { depth: 30 }), track(2, 1, "samples", { depth: 40 })];
  const lines = (opened: number[]): [number, number][] =>
    rowsOf(deep, { ...everything, opened: new Set(opened) }).map((row) => [row.lines, row.more]);
  assert.deepEqual(lines([]), [
    [6, 24],
    [3, 37],
  ]);
  assert.deepEqual(lines([2]), [
    [6, 24],
    [40, 0],
  ]);
  const [row] = rowsOf([track(1, null, "thread", { depth: 7 })], everything);
  assert.deepEqual([row!.lines, row!.more], [7, 0], "a single level is no reason to cut");
});

test("many counters stand in a closed group", () => {
  const counters = [10, 11, 12, 13].map((id) => track(id, 6, "counter", { pid: 8, depth: 0 }));
  const all = [...tracks.slice(0, 7), ...counters];
  const group = groupOf(6);
  const shown = (opened: number[]): number[] =>
    rowsOf(all, { ...everything, opened: new Set(opened) }).map((row) => row.track.id);
  assert.deepEqual(shown([]), [1, 2, 3, 4, 5, 6, 7, group]);
  assert.deepEqual(shown([group]), [1, 2, 3, 4, 5, 6, 7, group, 10, 11, 12, 13]);
  const row = rowsOf(all, everything).at(-1)!;
  assert.deepEqual([row.track.name, row.group, row.collapsed, row.level], ["4 counters", true, true, 2]);
  assert.deepEqual(ancestorsOf(counters[0]!, all), [6, 1]);
});

test("a thread that was never sampled has no strip of samples", () => {
  const strips = [track(1, null, "thread"), track(2, 1, "samples", { events: 0, depth: 0 }), track(3, 1, "samples")];
  assert.deepEqual(
    rowsOf(strips, everything).map((row) => row.track.id),
    [1, 3],
  );
});
