// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  counted,
  fixed,
  humanBytes,
  humanCount,
  humanNs,
  humanNumber,
  humanPercent,
  shortReal,
  signedNumber,
  withThousands,
} from "./units";

// The same cases as in src/base/text_test.cc.
test("bytes read as in base/text_test.cc", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [17, "17 B"],
    [1023, "1023 B"],
    [1024, "1.00 KiB"],
    [1536, "1.50 KiB"],
    [1024 * 1024 - 1, "1.00 MiB"],
    [23.44 * 1024 * 1024, "23.4 MiB"],
    [-2048, "-2.00 KiB"],
    [5e18, "4441 PiB"],
  ];
  for (const [bytes, want] of cases) assert.equal(humanBytes(bytes), want);
});

test("times read as in base/text_test.cc", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [999, "999 ns"],
    [1500, "1.50 us"],
    [999_999, "1.00 ms"],
    [23.44e6, "23.4 ms"],
    [61e9, "61.0 s"],
    [3599.9e9, "3600 s"],
    [3600e9, "1h 00m"],
    [7500e9, "2h 05m"],
  ];
  for (const [ns, want] of cases) assert.equal(humanNs(ns), want);
});

test("counts read as in base/text_test.cc", () => {
  assert.equal(humanCount(999), "999");
  assert.equal(humanCount(1500), "1.50 k");
  assert.equal(humanCount(100e6), "100 M");
});

// What `fathom report` printed for tests/golden/explain.txt: 104500 ns is "104 us".
test("a tie goes to the even digit, as in C", () => {
  assert.equal(humanNs(104_500), "104 us");
  assert.equal(humanNs(105_500), "106 us");
  assert.equal(fixed(2.5, 0), "2");
  assert.equal(fixed(-2.5, 0), "-2");
  assert.equal(fixed(0.125, 2), "0.12");
  assert.equal(fixed(0.375, 2), "0.38");
  assert.equal(fixed(4.35, 1), "4.3", "4.35 lies below the tie");
  assert.equal(humanPercent(0.25), "0.2 %");
});

test("a number and its noun agree", () => {
  assert.equal(counted(0, "event"), "0 events");
  assert.equal(counted(1, "event"), "1 event");
  assert.equal(counted(12345, "event"), "12,345 events");
  assert.equal(counted(1, "box", "boxes"), "1 box");
  assert.equal(counted(2, "box", "boxes"), "2 boxes");
});

test("plain and counted numbers read as in render/cell_text.cc", () => {
  assert.equal(withThousands(12345), "12,345");
  assert.equal(withThousands(-1234567), "-1,234,567");
  assert.equal(withThousands(999), "999");
  assert.equal(humanNumber(12345, "count"), "12,345");
  assert.equal(humanNumber(12345, "none"), "12345");
  assert.equal(humanNumber(1.5, "count"), "1.5");
  assert.equal(shortReal(0.777), "0.777");
  assert.equal(shortReal(12.3456789), "12.3457");
  assert.equal(shortReal(123456.789), "123456.789");
  assert.equal(shortReal(1e15), "1e+15");
  assert.equal(shortReal(0.00001234567), "1.23457e-05");
  assert.equal(shortReal(-0.0001), "-0.0001");
  assert.equal(shortReal(-0), "0");
  assert.equal(shortReal(NaN), "nan");
});

test("a change has its sign", () => {
  assert.equal(signedNumber(1500, "ns"), "+1.50 us");
  assert.equal(signedNumber(-1500, "ns"), "-1.50 us");
  assert.equal(signedNumber(0, "percent"), "0.0 %");
});
