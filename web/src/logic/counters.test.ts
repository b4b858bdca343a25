// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { statementText } from "../api/statements";
import type { Cell } from "../api/types";
import { counterLines, counterNotes, counterValues, rowsOfPart } from "./counter_lines";
import { boundsOf, isGrowing, picturesOf } from "./counters";
import { around, multiples, rates, type Line } from "./series";

interface Facts {
  unit?: string;
  layer?: string;
  host?: string;
  tid?: number;
  of?: number; // lines of this name
  width?: number;
}

// A row of statement `counters`: [bin, value, when it was read].
function row(name: string, pid: number, points: [number, number, number][], facts: Facts = {}): Cell[] {
  const { unit = "", layer = "resource", host = "alpha", tid = -1, of = 1, width = 1e9 } = facts;
  const column = (at: number) => points.map((point) => point[at]!);
  return [name, unit, layer, host, pid, tid, of, 0, width, column(0), column(1), column(2)];
}

function line(who: string, points: [number, number][]): Line {
  const [ts, values] = [0, 1].map((at) => Float64Array.from(points, (point) => point[at]!));
  return { name: "rss", unit: "bytes", who, ts: ts!, at: ts!, values: values! };
}

test("counters that only grow are shown as rates, CPU seconds as percent", () => {
  assert.ok(isGrowing("cpu_user") && isGrowing("gpu0_energy") && isGrowing("rchar"));
  assert.ok(!isGrowing("rss") && !isGrowing("cpu_busy"));
  const lines = counterLines([
    row("cpu_user", 10, [[0, 1, 0], [9, 1.5, 10e9]], { unit: "s" }), // prettier-ignore
    row("rss", 10, [[0, 1024, 0]], { unit: "bytes" }),
    row("cpu_busy", -1, [[0, 12.5, 0]], { unit: "%" }),
  ]);
  const [cpu, rss, busy] = picturesOf(lines, 0, 10e9);
  assert.deepEqual(cpu?.series, [{ label: "pid 10", values: [5, 5] }]);
  assert.deepEqual(cpu?.times, [0, 9e9]);
  assert.equal(cpu?.measure, "percent");
  assert.equal(rss?.measure, "bytes");
  assert.equal(busy?.series[0]?.label, "machine");
});

test("a range between two values of a counter has its growth, and the line through it", () => {
  const both = (first: number, second: number): [number, number, number][] => [
    [-1, first, 1e9],
    [-2, second, 2e9],
  ];
  const lines = counterLines([
    row("cpu_user", 1, both(1, 1.25)),
    row("rss", 1, both(10, 20)),
    row("rss", 2, [[-1, 10, 1e9]]), // it ended before
  ]);
  const [cpu, rss] = picturesOf(lines, 1.4e9, 1.6e9);
  assert.deepEqual(cpu?.series, [{ label: "pid 1", values: [25, 25] }]);
  assert.deepEqual(rss?.times, [1e9, 2e9]);
  assert.deepEqual(rss?.series, [{ label: "pid 1", values: [10, 20] }]);
  assert.deepEqual(picturesOf(lines, 3e9, 4e9), []);
  assert.deepEqual(boundsOf(rss!, 8), { low: 0, high: 20 });
});

test("counters of one name share a picture and its times", () => {
  const [picture] = multiples([
    line("a", [[0, 1], [5, 3]]), // prettier-ignore
    line("b", [[10, 2]]),
  ]);
  assert.deepEqual(picture?.times, [0, 5, 10]);
  assert.deepEqual(picture?.series, [
    { label: "a", values: [1, 3, null] },
    { label: "b", values: [null, null, 2] },
  ]);
  assert.deepEqual([...rates(line("a", [[0, 0], [1e9, 5], [3e9, 11]])).values], [5, 5, 3]); // prettier-ignore
  assert.equal(rates(line("a", [[0, 3]])).values.length, 0);
  assert.deepEqual([...around(line("a", [[0, 1], [5, 2], [9, 3], [12, 4]]), 4, 6).ts], [0, 5, 9]); // prettier-ignore
});

test("a line says whose it is: host, process, thread", () => {
  const who = (...rows: Cell[][]) => counterLines(rows).map((each) => each.who);
  assert.deepEqual(who(row("rss", 10, []), row("rss", -1, [])), ["pid 10", "machine"]);
  assert.deepEqual(who(row("rss", 10, []), row("rss", 10, [], { host: "beta" })), ["alpha pid 10", "beta pid 10"]);
  assert.deepEqual(who(row("queue", 10, [], { tid: 12 })), ["pid 10 thread 12"]);
});

test("the question holds the selection", () => {
  const text = statementText("counters", counterValues({ hosts: ["a'b"], pids: [7, 8] }, 5, 1000));
  assert.ok(text.includes("list_contains(['a''b'], host)") && text.includes("list_contains([7, 8], pid)"));
  assert.ok(text.includes("len([]) = 0 OR list_contains([], layer)"));
  assert.ok(!/\{\w+\}/.test(text));
});

test("an answer of everything answers for a part", () => {
  const rows = [
    row("rss", 1, [], { of: 5 }),
    row("rss", 2, [], { of: 5, tid: 3 }),
    row("busy", -1, [], { layer: "gpu" }),
  ];
  const left = (part: Parameters<typeof rowsOfPart>[1]) =>
    counterLines(rowsOfPart(rows, part)).map(({ name, pid, linesOfName }) => [name, pid, linesOfName]);
  assert.deepEqual(left({ pids: [2] }), [["rss", 2, 4], ["busy", -1, 1]]); // prettier-ignore
  assert.deepEqual(left({ tids: [4] }), [["rss", 1, 4], ["busy", -1, 1]]); // prettier-ignore
  assert.deepEqual(left({ layers: ["gpu"] }), [["busy", -1, 1]]);
  assert.deepEqual(left({ hosts: ["beta"] }), []);
});

test("what is not shown or not followed is said", () => {
  const lines = counterLines([row("rss", 1, [], { of: 1500 }), row("busy", -1, [])]);
  assert.deepEqual(counterNotes(counterLines([row("rss", 1, [])]), { pids: [1] }, 0, 1e9), []);
  const [missing, ...none] = counterNotes(lines, {}, 0, 1e9);
  assert.match(missing!, /rss \(1,499 of 1,500\)/);
  assert.deepEqual(none, []);
  const notes = counterNotes(lines, { where: "dur > 5", tids: [3] }, 0, 1e9).join("\n");
  assert.match(notes, /one on events[\s\S]*whole processes[\s\S]*the machine belong to no process/);
  const full = counterLines([row("rss", 1, [[0, 1, 0], [1, 1, 1e9]], { width: 5e8 })]); // prettier-ignore
  assert.match(counterNotes(full, {}, 0, 1e9)[0]!, /one value in 500 ms/);
});
