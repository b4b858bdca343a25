// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineWindow, Track } from "../api/types";
import type { Hit, Scene } from "./hit";
import { rowsOf } from "./rows";
import { acrossOf, besideOf, firstOf, withEdge } from "./step";
import { contentsOf, TileStore } from "./tiles";

function thread(id: number, depth: number): Track {
  const times = { from: 0, to: 1024, events: 3, depth };
  return { id, parent: null, kind: "thread", name: `t${id}`, host: "a", pid: 1, tid: id, rank: null, ...times };
}

// Thread 1 has two levels, thread 2 has events that are not on screen, thread 3 one level.
function scene(pinned: number[] = []): Scene {
  const tiles = new TileStore();
  const one = (id: number, depth: number[], start: number[], dur: number[]) => {
    const same = (value: number): number[] => depth.map(() => value);
    return { id, depth, start, dur, name: same(0), layer: same(0), count: same(1), row: depth.map((_none, at) => at) };
  };
  const answer: TimelineWindow = {
    from: 0,
    to: 1024,
    names: ["x"],
    tracks: [one(1, [0, 1, 1], [100, 110, 500], [800, 10, 100]), one(3, [0, 0], [520, 900], [10, 10])],
  };
  for (const [id, content] of contentsOf(answer, [1, 3], tiles.names)) tiles.put(id, { level: 0, index: 0 }, content);
  const shown = { collapsed: new Set<number>(), opened: new Set<number>(), pinned, hosts: [], pids: [], tids: [] };
  const rows = rowsOf([thread(1, 2), thread(2, 1), thread(3, 1)], shown);
  return { rows, tiles, camera: { from: 0, to: 1024 }, width: 1024 };
}

function place(hit: Hit | undefined): [number, number, number] | undefined {
  return hit && [hit.track.id, hit.depth, hit.start];
}

test("arrows lead from line to line, and past those that show nothing", () => {
  for (const here of [scene(), scene([3])]) {
    const first = firstOf(
      here,
      here.rows.filter((row) => !row.pinned),
    )!;
    assert.deepEqual(place(first), [1, 0, 100]);
    const inside = acrossOf(here, first, 1)!;
    assert.deepEqual(place(inside), [1, 1, 500], "the nearest to its middle");
    const below = acrossOf(here, inside, 1)!;
    assert.deepEqual(place(below), [3, 0, 520]);
    assert.equal(acrossOf(here, below, 1), undefined);
    assert.deepEqual(place(acrossOf(here, below, -1)), [1, 1, 500]);
    assert.equal(acrossOf(here, first, -1), undefined);
  }
});

test("events of one line follow each other", () => {
  const here = scene();
  const inside = acrossOf(here, firstOf(here, here.rows)!, 1)!;
  assert.deepEqual(place(besideOf(here, inside, -1)), [1, 1, 110]);
  assert.equal(besideOf(here, inside, 1), undefined);
});

test("a range has its edges one by one", () => {
  assert.deepEqual(withEdge({ from: null, to: null }, "from", 10.6), { from: 10, to: null });
  assert.deepEqual(withEdge({ from: 10, to: null }, "to", 20.2), { from: 10, to: 21 });
  assert.deepEqual(withEdge({ from: 10, to: 21 }, "from", 21), { from: 21, to: null });
  assert.deepEqual(withEdge({ from: 10, to: 21 }, "to", 9), { from: null, to: 9 });
  assert.deepEqual(withEdge({ from: null, to: null }, "from", -3), { from: 0, to: null });
});
