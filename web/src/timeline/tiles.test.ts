// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineWindow } from "../api/types";
import { contentsOf, eachBox, levelOf, Names, tileFrom, tileSpan, tilesOver, TileStore, type Content } from "./tiles";

function boxes(...times: [start: number, dur: number][]): Content {
  const zeros = times.map(() => 0);
  return {
    kind: "boxes",
    boxes: {
      depth: Int32Array.from(zeros),
      start: Float64Array.from(times, ([start]) => start),
      dur: Float64Array.from(times, ([, dur]) => dur),
      busy: Float64Array.from(times, ([, dur]) => dur),
      name: Uint32Array.from(zeros),
      layer: Uint32Array.from(zeros),
      count: Float64Array.from(times, () => 1),
      row: Float64Array.from(zeros),
    },
  };
}

test("bins are no narrower than a pixel, and the finest such", () => {
  for (const [span, width] of [
    [1e9, 1000],
    [1024, 1024],
    [20, 1280],
    [3.7e12, 2560],
  ] as const) {
    const level = levelOf({ from: 0, to: span }, width);
    assert.ok(2 ** level >= span / width - 1e-6);
    assert.ok(level === 0 || 2 ** (level - 1) < span / width);
  }
});

test("tiles cover a range without gap", () => {
  const camera = { from: 5_000_000, to: 9_999_999 };
  const keys = tilesOver(camera, 11);
  assert.ok(tileFrom(keys[0]!) <= camera.from);
  assert.ok(tileFrom(keys.at(-1)!) + tileSpan(11) >= camera.to);
  for (const [at, key] of keys.entries()) assert.equal(key.index, keys[0]!.index + at);
  assert.deepEqual(tilesOver({ from: 0, to: tileSpan(3) }, 3), [{ level: 3, index: 0 }], "the end is not part of it");
});

test("an answer becomes boxes at absolute times, and tracks without any are known to have none", () => {
  const names = new Names();
  names.number("other");
  const answer: TimelineWindow = {
    from: 1000,
    to: 2000,
    names: ["read", "posix"],
    tracks: [
      { id: 4, depth: [0], start: [10], dur: [5], name: [0], layer: [1], count: [3], row: [-1] },
      { id: 5, t: [0, 500], min: [1, 2], max: [3, 4], avg: [2, 3] },
    ],
  };
  const contents = contentsOf(answer, [4, 5, 6], names);
  const four = contents.get(4);
  assert.ok(four?.kind === "boxes");
  assert.deepEqual([...four.boxes.start], [1010]);
  assert.deepEqual([names.texts[four.boxes.name[0]!], names.texts[four.boxes.layer[0]!]], ["read", "posix"]);
  const five = contents.get(5);
  assert.ok(five?.kind === "line");
  assert.deepEqual([...five.line.t], [1000, 1500]);
  assert.equal(contents.get(6)?.kind, "nothing");
});

test("a box that several tiles tell of is drawn once", () => {
  const span = tileSpan(0);
  const store = new TileStore();
  store.put(1, { level: 0, index: 0 }, boxes([10, 3 * span]));
  store.put(1, { level: 0, index: 1 }, boxes([10, 3 * span], [span + 5, 2]));
  const drawn: number[] = [];
  eachBox(store.best(1, { from: 0, to: 2 * span }, 0), (all, at) => drawn.push(all.start[at]!));
  assert.deepEqual(drawn, [10, span + 5]);
  const later: number[] = [];
  eachBox(store.best(1, { from: span, to: 2 * span }, 0), (all, at) => later.push(all.start[at]!));
  assert.deepEqual(later, [10, span + 5], "the first tile shows what began before it");
});

test("while a tile is on its way, a coarser one stands in for its part alone", () => {
  const span = tileSpan(0);
  const store = new TileStore();
  store.put(1, { level: 1, index: 0 }, boxes([5, 1], [span + 5, 1]));
  store.put(1, { level: 0, index: 0 }, boxes([6, 1]));
  const drawn: number[] = [];
  eachBox(store.best(1, { from: 0, to: 2 * span }, 0), (all, at) => drawn.push(all.start[at]!));
  assert.deepEqual(drawn, [6, span + 5]);
});

test("finer tiles stand in where nothing coarser is there", () => {
  const store = new TileStore();
  store.put(1, { level: 3, index: 2 }, boxes([tileFrom({ level: 3, index: 2 }) + 1, 1]));
  assert.equal(store.best(1, { from: 0, to: tileSpan(4) * 2 }, 4).length, 1);
  assert.equal(store.best(2, { from: 0, to: tileSpan(4) * 2 }, 4).length, 0);
});

test("what was used longest ago goes first, and the store stays within its limit", () => {
  const store = new TileStore(30);
  for (let index = 0; index < 3; ++index) store.put(1, { level: 0, index }, boxes([index, 1]));
  store.get(1, { level: 0, index: 0 });
  store.put(1, { level: 0, index: 3 }, boxes([3, 1]));
  assert.ok(store.size <= 30);
  assert.ok(store.has(1, { level: 0, index: 0 }) && store.has(1, { level: 0, index: 3 }));
  assert.ok(!store.has(1, { level: 0, index: 1 }));
});

test("an answer to what was asked before the recording grew is asked again", () => {
  const store = new TileStore();
  const key = { level: 0, index: 5 };
  const { age } = store;
  store.forgetAfter(tileSpan(0) * 5);
  store.put(1, key, boxes([0, 1]), age);
  assert.ok(store.get(1, key) && !store.has(1, key));
  store.put(1, key, boxes([0, 1]), store.age);
  assert.ok(store.has(1, key));
});

test("what may have changed is asked again, and shown until then", () => {
  const store = new TileStore();
  store.put(1, { level: 0, index: 0 }, boxes([0, 1]));
  store.put(1, { level: 0, index: 5 }, boxes([0, 1]));
  store.forgetAfter(tileSpan(0) * 5);
  assert.ok(store.has(1, { level: 0, index: 0 }));
  assert.ok(!store.has(1, { level: 0, index: 5 }));
  assert.ok(store.get(1, { level: 0, index: 5 }));
});
