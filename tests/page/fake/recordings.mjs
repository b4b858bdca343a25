// SPDX-License-Identifier: MIT
// Recordings that no program made: events by a rule, so that a check knows what has to be on the screen.

const hostile = '<img src=x onerror="document.title=1">.txt';

function track(id, parent, kind, name, more = {}) {
  return {
    id,
    parent,
    kind,
    name,
    host: "a",
    pid: null,
    tid: null,
    rank: null,
    from: 0,
    to: 0,
    events: 0,
    depth: 0,
    ...more,
  };
}

function event(track, depth, ts, dur, layer, name) {
  return { track, depth, ts, dur, layer, name };
}

// One process with three threads: long calls with short ones inside; a counter; sampled functions; a hostile name.
function small() {
  const wall = 1_000_000_000;
  const tracks = [track(1, null, "host", "a"), track(2, 1, "process", "train (7)", { pid: 7 })];
  const events = [];
  for (let thread = 0; thread < 3; ++thread) {
    const id = 10 + thread;
    tracks.push(track(id, 2, "thread", `thread ${70 + thread}`, { pid: 7, tid: 70 + thread }));
    for (let step = 0; step < 10; ++step) {
      const begin = step * 100_000_000;
      events.push(event(id, 0, begin, 80_000_000, "app", `step ${step}`));
      for (let call = 0; call < 200; ++call) {
        const name = call % 2 ? "read" : "write";
        events.push(event(id, 1, begin + call * 400_000, 300_000, call % 2 ? "posix" : "stdio", name));
      }
    }
  }
  tracks.push(track(20, 2, "samples", "samples of 70", { pid: 7, tid: 70 }));
  for (let at = 0; at < 100; ++at)
    events.push(event(20, 0, at * 10_000_000, 10_000_000, at % 5 ? "cpu" : "wait", `f${at % 7}`));
  tracks.push(track(21, 2, "layer", hostile, { pid: 7, layer: "block" }));
  events.push(event(21, 0, 200_000_000, 300_000_000, "block", hostile));
  tracks.push(track(30, 2, "counter", "rss", { pid: 7, unit: "bytes", layer: "resource" }));
  const counters = new Map([
    [30, Array.from({ length: 101 }, (_none, at) => [at * 10_000_000, 1e6 * (1 + (at % 20))])],
  ]);
  const flows = [{ from: { track: 10, t: 100_000_000 }, to: { track: 12, t: 300_000_000 } }];
  return { id: "small", name: "small.fathom", wall, tracks, events, counters, flows };
}

// Deep stacks, three threads, many counters: what a program in Python leaves.
function deep() {
  const wall = 1_000_000_000;
  const tracks = [track(1, null, "host", "a"), track(2, 1, "process", "python (9)", { pid: 9 })];
  const events = [];
  const stack = (id, levels, layer, name) => {
    for (let depth = 0; depth < levels; ++depth)
      events.push(event(id, depth, depth * 10_000_000, wall - 2 * depth * 10_000_000, layer, `${name} ${depth}`));
  };
  for (let thread = 0; thread < 3; ++thread) {
    const place = { pid: 9, tid: 90 + thread };
    tracks.push(track(10 + thread, 2, "thread", `thread ${90 + thread}`, place));
    stack(10 + thread, 30, "python", "call");
    tracks.push(track(20 + thread, 10 + thread, "samples", "sampled functions", place));
    stack(20 + thread, 40, "cpu", "frame");
  }
  const counters = new Map();
  for (let at = 0; at < 14; ++at) {
    tracks.push(track(40 + at, 2, "counter", `counter ${at}`, { pid: 9, unit: "bytes", layer: "resource" }));
    counters.set(40 + at, [
      [0, 0],
      [wall / 2, at],
    ]);
  }
  return { id: "deep", name: "deep.fathom", wall, tracks, events, counters, flows: [] };
}

// Ten thousand tracks, a few events on each.
function wide() {
  const wall = 1_000_000_000;
  const tracks = [track(1, null, "host", "a"), track(2, 1, "process", "many (8)", { pid: 8 })];
  const events = [];
  for (let at = 0; at < 10_000; ++at) {
    const id = 100 + at;
    tracks.push(track(id, 2, "thread", `thread ${at}`, { pid: 8, tid: 1000 + at }));
    for (let part = 0; part < 3; ++part) {
      events.push(event(id, 0, part * 300_000_000 + (at % 97) * 1_000_000, 100_000_000, "app", "work"));
    }
  }
  return { id: "wide", name: hostile, wall, tracks, events, counters: new Map(), flows: [] };
}

// Sums that the tracks tell of themselves.
function finished(recording) {
  const byTrack = new Map(recording.tracks.map((each) => [each.id, []]));
  for (const [row, each] of recording.events.entries()) byTrack.get(each.track).push({ ...each, row });
  for (const each of recording.tracks) {
    const own = byTrack.get(each.id);
    each.events = own.length + (recording.counters.get(each.id)?.length ?? 0);
    each.depth = own.reduce((most, one) => Math.max(most, one.depth + 1), 0);
    each.to = recording.wall;
  }
  return { ...recording, byTrack, state: "complete" };
}

export function recordings() {
  return [finished(small()), finished(wide()), finished(deep())];
}
