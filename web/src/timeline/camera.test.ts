// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { around, clamped, leastSpan, marks, moment, panned, shows, timeAt, xOf, zoomed } from "./camera";

const wall = 1_000_000;

test("a place on screen and its time are each other's inverse", () => {
  const camera = { from: 1000, to: 3000 };
  for (const x of [0, 17, 400, 800]) assert.equal(Math.round(xOf(camera, timeAt(camera, x, 800), 800)), x);
});

test("zooming leaves the time under the pointer where it is", () => {
  const camera = { from: 200_000, to: 600_000 };
  const at = 300_000;
  for (const factor of [0.5, 0.1, 1.5]) {
    const next = zoomed(camera, factor, at, wall);
    assert.equal(Math.round(xOf(next, at, 800)), Math.round(xOf(camera, at, 800)));
  }
});

test("the camera never leaves the recording, and never shows less than it can", () => {
  assert.deepEqual(clamped({ from: -500, to: 100 }, wall), { from: 0, to: 600 });
  assert.deepEqual(clamped({ from: wall - 10, to: wall + 590 }, wall), { from: wall - 600, to: wall });
  assert.deepEqual(zoomed({ from: 0, to: wall }, 100, 5, wall), { from: 0, to: wall });
  const close = zoomed({ from: 0, to: 100 }, 1e-9, 50, wall);
  assert.equal(close.to - close.from, leastSpan);
  assert.deepEqual(panned({ from: 0, to: 100 }, -5, wall), { from: 0, to: 100 });
  assert.deepEqual(clamped({ from: 0, to: 1 }, 1), { from: 0, to: leastSpan });
});

test("a range is gone to with room around it, and is seen then", () => {
  const camera = around(400_000, 500_000, wall);
  assert.ok(camera.from < 400_000 && camera.to > 500_000);
  assert.ok(shows(camera, 400_000, 500_000));
  assert.ok(!shows({ from: 0, to: wall }, 10, 20), "too small to be seen");
  assert.ok(!shows({ from: 0, to: 100 }, 200, 300), "beside the screen");
});

test("marks are round, apart, and differ in words", () => {
  for (const span of [50, 777, 1e6, 3.3e9, 8e14]) {
    const { step, times } = marks({ from: span / 3, to: span * 1.3 }, 1000);
    assert.ok(times.length >= 1 && times.length <= 11, `${times.length} marks`);
    const words = times.map((time) => moment(time, step));
    assert.equal(new Set(words).size, words.length, words.join(", "));
  }
});

test("moments have the digits that their axis needs", () => {
  assert.equal(moment(1_500_000_000, 100_000_000), "1.5 s");
  assert.equal(moment(1_000_000_020, 20), "1.00000002 s");
  assert.equal(moment(2_000_000, 1_000_000), "2 ms");
  assert.equal(moment(0, 200), "0 ns");
});
