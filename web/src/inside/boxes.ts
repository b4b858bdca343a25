// SPDX-License-Identifier: MIT
// Any window of the timeline out of boxes over the whole run. Boxes that are shorter than a bin and begin in the same one are
// drawn as one, by the rules of the server (src/analysis/canvas/lane_reader.cc); boxes are never cut finer than they came.
import { isCounter, type BoxTrack, type CounterTrack, type TimelineWindow, type TrackId } from "../api/types";

// What is drawn in one line of a track, in the order of time. Times are of the recording.
export interface Lane {
  track: TrackId;
  depth: number;
  start: number[];
  dur: number[];
  busy: number[];
  name: number[]; // into the names of all
  layer: number[];
  count: number[];
  row: number[];
}

interface Box {
  start: number;
  dur: number;
  busy: number;
  name: number;
  layer: number;
  count: number;
  row: number;
}

export interface Bins {
  from: number;
  to: number;
  width: number; // ns, a power of two
}

// The narrowest bins that are no narrower than a pixel, over a window that is widened to whole ones.
export function binned(from: number, to: number, pixels: number): Bins {
  const pixel = Math.max(1, Math.ceil(Math.max(to - from, 1) / Math.max(pixels, 1)));
  const width = 2 ** Math.ceil(Math.log2(pixel) - 1e-12);
  return { from: Math.floor(from / width) * width, to: Math.ceil(Math.max(to, from + 1) / width) * width, width };
}

// The first place from which on begins are at least `time`.
function placeOf(starts: readonly number[], time: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function boxAt(lane: Lane, at: number): Box {
  return {
    start: lane.start[at]!,
    dur: lane.dur[at]!,
    busy: lane.busy[at]!,
    name: lane.name[at]!,
    layer: lane.layer[at]!,
    count: lane.count[at]!,
    row: lane.row[at]!,
  };
}

// Boxes of one bin as one. Of a box of several, all its time counts for the name that it has.
function joined(boxes: readonly Box[]): Box {
  const first = boxes[0]!;
  if (boxes.length === 1) return first;
  const times = new Map<string, { busy: number; box: Box }>();
  for (const box of boxes) {
    const key = `${box.layer} ${box.name}`;
    times.set(key, { busy: (times.get(key)?.busy ?? 0) + box.busy, box });
  }
  const most = [...times.values()].reduce((best, each) => (each.busy > best.busy ? each : best));
  const last = boxes.at(-1)!;
  return {
    start: first.start,
    dur: last.start + last.dur - first.start,
    busy: boxes.reduce((sum, box) => sum + box.busy, 0),
    name: most.box.name,
    layer: most.box.layer,
    count: boxes.reduce((sum, box) => sum + box.count, 0),
    row: -1,
  };
}

// Boxes of several events become as wide as their bin where there is room.
function widened(boxes: readonly Box[], width: number): Box[] {
  let end = Number.NEGATIVE_INFINITY;
  return boxes.map((box, at) => {
    let { start, dur } = box;
    if (box.count > 1 && dur < width) {
      const bin = Math.floor(start / width) * width;
      const room = Math.min(bin + width, boxes[at + 1]?.start ?? Number.POSITIVE_INFINITY);
      const to = Math.max(start + dur, room);
      start = Math.max(bin, end);
      dur = to - start;
    }
    end = start + dur;
    return { ...box, start, dur };
  });
}

// One line of a track in bins: single boxes where they are as wide as a bin, else joined. What began to the left of the
// window and reaches into it comes first.
export function boxesOf(lane: Lane, bins: Bins): Box[] {
  const found: Box[] = [];
  let open: Box[] = [];
  const close = (): void => {
    if (open.length > 0) found.push(joined(open));
    open = [];
  };
  let at = placeOf(lane.start, bins.from);
  if (at > 0 && lane.start[at - 1]! + lane.dur[at - 1]! > bins.from) found.push(boxAt(lane, at - 1));
  for (; at < lane.start.length && lane.start[at]! < bins.to; ++at) {
    const box = boxAt(lane, at);
    const bin = Math.floor(box.start / bins.width);
    if (box.dur >= bins.width || (open.length > 0 && Math.floor(open[0]!.start / bins.width) !== bin)) close();
    if (box.dur >= bins.width) found.push(box);
    else open.push(box);
  }
  close();
  return widened(found, bins.width);
}

// All boxes of the document, each once: windows of the server are told apart by track and depth here.
export class InsideBoxes {
  readonly names: string[] = [];
  readonly lanes = new Map<TrackId, Lane[]>();
  private readonly lines = new Map<TrackId, CounterTrack>(); // times are of the recording
  private readonly numbers = new Map<string, number>();

  constructor(windows: readonly TimelineWindow[]) {
    for (const window of windows) {
      const numbers = window.names.map((name) => this.number(name));
      for (const track of window.tracks) {
        if (isCounter(track)) this.lines.set(track.id, { ...track, t: track.t.map((time) => time + window.from) });
        else this.lanes.set(track.id, lanesOf(track, window.from, numbers));
      }
    }
  }

  // Of these layers only, if any are named. A box of several events is of the layer that it shows.
  window(
    from: number,
    to: number,
    pixels: number,
    tracks: readonly TrackId[],
    layers: readonly string[] = [],
  ): TimelineWindow {
    const only = layers.length > 0 ? new Set(layers.map((layer) => this.numbers.get(layer) ?? -1)) : null;
    const bins = binned(from, to, pixels);
    const found: TimelineWindow["tracks"] = [];
    for (const id of tracks) {
      const line = this.lines.get(id);
      if (line) found.push(lineIn(line, bins));
      const lanes = this.lanes.get(id);
      if (lanes) found.push(trackOf(id, only ? lanes.map((lane) => ofLayers(lane, only)) : lanes, bins));
    }
    return { from: bins.from, to: bins.to, names: this.names, tracks: found };
  }

  // A single event, and the ones around it from the outermost on.
  event(row: number): { lane: Lane; at: number; around: { lane: Lane; at: number }[] } | null {
    for (const lanes of this.lanes.values()) {
      for (const lane of lanes) {
        const at = lane.row.indexOf(row);
        if (at < 0) continue;
        return { lane, at, around: lanes.flatMap((other) => around(other, lane, at)) };
      }
    }
    return null;
  }

  // The next box by whose name `matches`, or the one before. Of a box that holds several, only the name that it shows is known.
  nextMatch(matches: (name: string) => boolean, time: number, back: boolean): { lane: Lane; at: number } | null {
    const wanted = new Set(this.names.flatMap((name, number) => (matches(name) ? [number] : [])));
    let best: { lane: Lane; at: number } | null = null;
    for (const lane of [...this.lanes.values()].flat()) {
      const step = back ? -1 : 1;
      let at = back ? placeOf(lane.start, time) - 1 : placeOf(lane.start, time + 1);
      while (at >= 0 && at < lane.start.length && !wanted.has(lane.name[at]!)) at += step;
      const start = lane.start[at];
      if (start === undefined) continue;
      const before = best && best.lane.start[best.at]!;
      if (before === null || (back ? start > before : start < before)) best = { lane, at };
    }
    return best;
  }

  private number(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.names.push(name) - 1;
      this.numbers.set(name, number);
    }
    return number;
  }
}

// An answer has the boxes of a track line by line.
function lanesOf(track: BoxTrack, from: number, numbers: readonly number[]): Lane[] {
  const lanes = new Map<number, Lane>();
  track.start.forEach((start, at) => {
    const depth = track.depth[at]!;
    let lane = lanes.get(depth);
    if (!lane) {
      lane = { track: track.id, depth, start: [], dur: [], busy: [], name: [], layer: [], count: [], row: [] };
      lanes.set(depth, lane);
    }
    lane.start.push(start + from);
    lane.dur.push(track.dur[at]!);
    lane.busy.push(track.busy?.[at] ?? track.dur[at]!);
    lane.name.push(numbers[track.name[at]!] ?? 0);
    lane.layer.push(numbers[track.layer[at]!] ?? 0);
    lane.count.push(track.count[at]!);
    lane.row.push(track.row[at]!);
  });
  return [...lanes.values()];
}

function ofLayers(lane: Lane, only: ReadonlySet<number>): Lane {
  const kept = [...lane.start.keys()].filter((at) => only.has(lane.layer[at]!));
  if (kept.length === lane.start.length) return lane;
  const of = (values: readonly number[]): number[] => kept.map((at) => values[at]!);
  return {
    ...lane,
    start: of(lane.start),
    dur: of(lane.dur),
    busy: of(lane.busy),
    name: of(lane.name),
    layer: of(lane.layer),
    count: of(lane.count),
    row: of(lane.row),
  };
}

function trackOf(id: TrackId, lanes: readonly Lane[], bins: Bins): BoxTrack {
  const depth: number[] = [];
  const boxes: Box[] = [];
  for (const lane of lanes) {
    for (const box of boxesOf(lane, bins)) {
      depth.push(lane.depth);
      boxes.push(box);
    }
  }
  return {
    id,
    depth,
    start: boxes.map((box) => box.start - bins.from),
    dur: boxes.map((box) => box.dur),
    busy: boxes.map((box) => box.busy),
    name: boxes.map((box) => box.name),
    layer: boxes.map((box) => box.layer),
    count: boxes.map((box) => box.count),
    row: boxes.map((box) => box.row),
  };
}

// Values of a counter as they came: they are few.
function lineIn(line: CounterTrack, bins: Bins): CounterTrack {
  const first = placeOf(line.t, bins.from);
  const last = placeOf(line.t, bins.to);
  const part = (values: readonly number[]): number[] => values.slice(first, last);
  return {
    id: line.id,
    t: part(line.t).map((time) => time - bins.from),
    min: part(line.min),
    max: part(line.max),
    avg: part(line.avg),
  };
}

function around(other: Lane, lane: Lane, at: number): { lane: Lane; at: number }[] {
  if (other.depth >= lane.depth) return [];
  const [start, end] = [lane.start[at]!, lane.start[at]! + lane.dur[at]!];
  const place = placeOf(other.start, start + 1) - 1;
  if (place < 0 || other.count[place] !== 1) return [];
  return other.start[place]! + other.dur[place]! >= end ? [{ lane: other, at: place }] : [];
}
