// SPDX-License-Identifier: MIT
// The level of detail by the rule of src/analysis/canvas/boxes.h, made slowly: bins of 2^k ns, an event as long as a bin is
// a box of its own, shorter ones that begin in the same bin are one.

export function binned(from, to, width) {
  let level = 0;
  while (2 ** level < (to - from) / width) level += 1;
  const bin = 2 ** level;
  return { bin, from: Math.floor(from / bin) * bin, to: Math.ceil(to / bin) * bin };
}

function boxesOf(events, window) {
  const boxes = [];
  const bins = new Map();
  for (const each of events) {
    if (each.ts >= window.to || (each.ts < window.from && each.ts + each.dur <= window.from)) continue;
    if (each.dur >= window.bin || each.ts < window.from) {
      boxes.push({ ...each, count: 1, busy: each.dur });
      continue;
    }
    const key = `${each.depth}/${Math.floor(each.ts / window.bin)}`;
    if (!bins.has(key)) bins.set(key, []);
    bins.get(key).push(each);
  }
  for (const list of bins.values()) boxes.push(list.length === 1 ? { ...list[0], count: 1 } : joined(list));
  return boxes.sort((a, b) => a.depth - b.depth || a.ts - b.ts);
}

function joined(list) {
  const times = new Map();
  for (const each of list) times.set(each.name, (times.get(each.name) ?? 0) + each.dur);
  const [name] = [...times].reduce((best, each) => (each[1] > best[1] ? each : best));
  const { layer, depth } = list.find((each) => each.name === name);
  const end = Math.max(...list.map((each) => each.ts + each.dur));
  return { depth, layer, name, ts: list[0].ts, dur: end - list[0].ts, count: list.length, row: -1 };
}

function counterOf(id, points, window) {
  const seen = points.filter(([t]) => t >= window.from && t < window.to);
  const values = seen.map(([, value]) => value);
  return { id, t: seen.map(([t]) => t - window.from), min: values, max: values, avg: values };
}

export function timeline(recording, from, to, width, ids, flows) {
  const window = binned(from, to, width);
  const names = [];
  const numbers = new Map();
  const number = (text) => {
    if (!numbers.has(text)) numbers.set(text, names.push(text) - 1);
    return numbers.get(text);
  };
  const tracks = ids.map((id) => {
    const points = recording.counters.get(id);
    if (points) return counterOf(id, points, window);
    const boxes = boxesOf(recording.byTrack.get(id) ?? [], window);
    return {
      id,
      depth: boxes.map((each) => each.depth),
      start: boxes.map((each) => each.ts - window.from),
      dur: boxes.map((each) => each.dur),
      name: boxes.map((each) => number(each.name)),
      layer: boxes.map((each) => number(each.layer)),
      count: boxes.map((each) => each.count),
      row: boxes.map((each) => each.row),
    };
  });
  const moved = (end) => ({ track: end.track, t: end.t - window.from });
  const arrows = recording.flows.map((flow) => ({ from: moved(flow.from), to: moved(flow.to) }));
  return { from: window.from, to: window.to, names, tracks, ...(flows ? { flows: arrows } : {}) };
}
