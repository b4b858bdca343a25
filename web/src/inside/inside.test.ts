// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import type { BoxTrack, Cell, TimelineWindow } from "../api/types";
import type { Values } from "../api/statements";
import { Refusal } from "../api/transport";
import { binned, InsideBoxes } from "./boxes";
import type { InsideData } from "./data";
import { InsideTransport, keyOf } from "./transport";

// A call of 1000 ns with ten reads of 10 ns inside, one every 100 ns, and a write of 64 ns behind them.
const reads = Array.from({ length: 10 }, (_none, at) => at * 100);
const window: TimelineWindow = {
  from: 1000,
  to: 3000,
  names: ["step", "app", "read", "posix", "write"],
  tracks: [
    {
      id: 7,
      depth: [0, ...reads.map(() => 1), 1],
      start: [0, ...reads, 1100],
      dur: [1000, ...reads.map(() => 10), 64],
      busy: [1000, ...reads.map(() => 10), 64],
      name: [0, ...reads.map(() => 2), 4],
      layer: [1, ...reads.map(() => 3), 3],
      count: [1, ...reads.map(() => 1), 1],
      row: [0, ...reads.map((_none, at) => at + 1), 11],
    },
    { id: 8, t: [0, 500, 1500], min: [1, 2, 3], max: [1, 2, 3], avg: [1, 2, 3] },
  ],
};

function boxes(from: number, to: number, width: number): { start: number; dur: number; count: number; name: string }[] {
  const answer = new InsideBoxes([window]).window(from, to, width, [7]);
  const track = answer.tracks[0] as BoxTrack;
  return track.start.map((start, at) => {
    const [dur, count, name] = [track.dur[at]!, track.count[at]!, answer.names[track.name[at]!]!];
    return { start: start + answer.from, dur, count, name };
  });
}

test("bins are those of the server", () => {
  assert.deepEqual(binned(0, 1000, 1000), { from: 0, to: 1000, width: 1 });
  assert.deepEqual(binned(5, 1000, 100), { from: 0, to: 1008, width: 16 });
  assert.equal(binned(0, 1024, 1024).width, 1);
  assert.equal(binned(0, 1025, 1024).width, 2);
});

test("each event is in one box at every width", () => {
  for (const width of [1, 3, 10, 100, 2000]) {
    const found = boxes(0, 4000, width);
    assert.equal(
      found.reduce((sum, box) => sum + box.count, 0),
      12,
      `${width}`,
    );
    const inner = found.slice(found.findIndex((box) => box.name !== "step"));
    for (const [at, box] of inner.entries()) {
      if (at > 0)
        assert.ok(box.start >= inner[at - 1]!.start + inner[at - 1]!.dur, `${width}: overlap at ${box.start}`);
    }
  }
  assert.equal(boxes(0, 4000, 4000).length, 12);
  // Bins of 1024 ns: a box for the call, one for the read that begins in the first bin, one for all others.
  assert.deepEqual(boxes(0, 4096, 4), [
    { start: 1000, dur: 1000, count: 1, name: "step" },
    { start: 1000, dur: 10, count: 1, name: "read" },
    { start: 1024, dur: 1024, count: 9, name: "read" },
    { start: 2100, dur: 64, count: 1, name: "write" },
  ]);
});

test("what began before a window is in it, and what is outside is not", () => {
  const found = boxes(1205, 1215, 10);
  assert.deepEqual(found, [
    { start: 1000, dur: 1000, count: 1, name: "step" },
    { start: 1200, dur: 10, count: 1, name: "read" },
  ]);
});

test("values of a counter come as they are", () => {
  const answer = new InsideBoxes([window]).window(1400, 1600, 10, [8]);
  assert.deepEqual(answer.tracks, [{ id: 8, t: [1500 - answer.from], min: [2], max: [2], avg: [2] }]);
});

// As statement `counters` answers: a line with its values from 0 to 20 ns.
function counterRow(name: string, pid: number): Cell[] {
  const lines = name === "rss" ? 2 : 1;
  return [name, "bytes", "resource", "h", pid, -1, lines, 0, 10, [0, 1, 2], [5, 6, 7], [0, 10, 20]];
}

const data: InsideData = {
  recording: "run.fathom",
  is_part: false,
  answers: [
    { asked: "/page", status: 200, answer: { mode: "file" } },
    { asked: "/report/files", status: 200, answer: { files: [] } },
    { asked: "/flame?weight=time&invert=0", status: 200, answer: { total: 5 } },
    { asked: "/flame?weight=time&invert=1", status: 200, answer: { total: 6 } },
    { asked: "/flame?weight=time&order=time&invert=0", status: 200, answer: { total: 7 } },
    { asked: "/flame?weight=cpu&invert=0", status: 404, answer: { error: "no samples" } },
    { asked: "/report/explain?call=pread%3C%26", status: 200, answer: { words: [] } },
    { asked: "/tracks", status: 200, answer: { tracks: [{ id: 7, tid: 70, pid: 1, host: "h" }], building: 0.4 } },
  ],
  statements: {
    calls: { columns: [], rows: [["pread<&"], ["write"]], truncated: false, elapsed_ns: 1 },
    counters: {
      columns: [],
      rows: [counterRow("rss", 1), counterRow("rss", 2), counterRow("memory_used", -1)],
      truncated: false,
      elapsed_ns: 1,
    },
    file_times: null,
    busiest: {
      columns: [],
      rows: [
        ["events where true", 3, 10, "h", "h", 1, 1],
        ["events where pid = 2", 4, 11, "h", "h", 2, 2],
      ],
      truncated: false,
      elapsed_ns: 0,
    },
  },
  timeline: { level: 4, left_out: 3, windows: [window] },
};

async function refused(question: Promise<unknown>): Promise<string> {
  try {
    await question;
  } catch (error) {
    if (error instanceof Refusal && !error.passing) return error.message;
    throw error;
  }
  throw new Error("answered");
}

test("questions find their answers however they are asked", async () => {
  const transport = new InsideTransport(data);
  assert.deepEqual(await transport.get("/report/files", { top: 1000, recording: "x", from: null, layers: [] }), {
    files: [],
  });
  assert.deepEqual(await transport.get("/flame", { weight: "time", order: "tree", invert: 0, min: 0.1 }), { total: 5 });
  assert.deepEqual(await transport.get("/flame", { weight: "time", order: "tree", invert: 1 }), { total: 6 });
  assert.deepEqual(await transport.get("/flame", { weight: "time", order: "time", invert: 0 }), { total: 7 });
  assert.deepEqual(await transport.get("/report/explain", { call: "pread<&", file: "" }), { words: [] });
  assert.equal(await refused(transport.get("/flame", { weight: "cpu" })), "no samples");
  assert.equal(
    keyOf("/x", [
      ["b", "2"],
      ["a", "1 &"],
    ]),
    "/x?a=1+%26&b=2",
  );
});

test("a part of the run is refused with the command that knows it", async () => {
  const transport = new InsideTransport(data);
  for (const part of [{ from: 0 }, { to: 5 }, { pid: [1] }, { tid: [1] }, { host: ["h"] }, { layers: ["posix"] }]) {
    assert.match(await refused(transport.get("/report/files", { top: 1000, ...part })), /fathom view run\.fathom$/);
  }
  assert.match(await refused(transport.get("/report/phases", {})), /does not hold that.*fathom view run\.fathom$/);
  assert.match(await refused(transport.post()), /fathom view/);
  assert.match(await refused(transport.statement({ name: "file_time", values: { file: "x" } })), /fathom view/);
});

test("statements are answered for what the file holds", async () => {
  const transport = new InsideTransport(data);
  assert.deepEqual((await transport.statement({ name: "calls" })).rows, [["pread<&"]]);
  // Also values outside of the range, whose neighbours lines need.
  const counters = async (values: Values) => (await transport.statement({ name: "counters", values })).rows;
  assert.equal((await counters({ from: 5, to: 15, pids: [] })).length, 3);
  const ofProcess = await counters({ from: 5, to: 15, pids: [2] });
  assert.deepEqual(ofProcess, [
    counterRow("rss", 2).map((cell, at) => (at === 6 ? 1 : cell)),
    counterRow("memory_used", -1),
  ]);
  const busiest = await transport.statement({ name: "busiest", values: { said: "events where pid = 2" } });
  assert.deepEqual(busiest.rows, [[4, 11, "h", "h", 2, 2]]);
  assert.deepEqual(await counters({ layers: ["app"] }), []);
  const after = async (name: "next_match" | "match_before", text: string, time: number) =>
    (await transport.statement({ name, values: { text, like: "", time } })).rows;
  assert.deepEqual(await after("next_match", "READ", 1000), [[1100, 10, 70, 1]]);
  assert.deepEqual(await after("next_match", "write", 0), [[2100, 64, 70, 1]]);
  assert.deepEqual(await after("match_before", "read", 1100), [[1000, 10, 70, 1]]);
  assert.deepEqual(await after("next_match", "read", 1900), []);
});

test("an event tells what it is inside of; tracks tell what was left out", async () => {
  const transport = new InsideTransport(data);
  const facts = (await transport.get("/event", { row: 2 })) as { event: object; parents: object[] };
  assert.deepEqual(facts.event, {
    ...{ row: 2, track: 7, layer: "posix", name: "read", ts: 1100, dur: 10, depth: 1 },
    ...{ host: "h", pid: 1, tid: 70 },
  });
  assert.deepEqual(
    facts.parents.map((each) => (each as { name: string }).name),
    ["step"],
  );
  const tracks = (await transport.get("/tracks", {})) as { building?: number; lost: { count: number }[] };
  assert.equal(tracks.building, undefined);
  assert.deepEqual(
    tracks.lost.map(({ count }) => count),
    [3],
  );
});
