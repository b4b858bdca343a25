// SPDX-License-Identifier: MIT
// Time is cut into tiles, and what the server says of a track is kept by tile. A tile of level k has 1024 bins of 2^k ns,
// which is how the server cuts time too (src/analysis/canvas): the same boxes come back wherever the camera stands, so
// that moving it asks only for what was not on screen before.
import { isCounter, type TimelineWindow, type TrackId } from "../api/types";
import { spanOf, type Camera } from "./camera";

export const binsOfTile = 1024;
export const highestLevel = 43; // 104 days in one tile

export interface TileKey {
  level: number;
  index: number;
}

// Boxes of one track in one tile, ready to be drawn: times are absolute.
export interface Boxes {
  depth: Int32Array;
  start: Float64Array;
  dur: Float64Array;
  busy: Float64Array; // time of the events in it
  name: Uint32Array; // into the names of the store
  layer: Uint32Array;
  count: Float64Array;
  row: Float64Array;
}

export interface Line {
  t: Float64Array;
  min: Float64Array;
  max: Float64Array;
  avg: Float64Array;
}

export type Content = { kind: "boxes"; boxes: Boxes } | { kind: "line"; line: Line } | { kind: "nothing" };

// The finest level whose bins are no narrower than a pixel.
export function levelOf(camera: Camera, width: number): number {
  const pixel = spanOf(camera) / Math.max(width, 1);
  return Math.min(highestLevel, Math.max(0, Math.ceil(Math.log2(pixel) - 1e-9)));
}

// In ns.
export function tileSpan(level: number): number {
  return binsOfTile * 2 ** level;
}

export function tileFrom(key: TileKey): number {
  return key.index * tileSpan(key.level);
}

// Tiles that cover a range, from left to right.
export function tilesOver(camera: Camera, level: number): TileKey[] {
  const span = tileSpan(level);
  const keys: TileKey[] = [];
  const last = Math.max(Math.ceil(camera.to / span) - 1, Math.floor(camera.from / span));
  for (let index = Math.max(0, Math.floor(camera.from / span)); index <= last; ++index) keys.push({ level, index });
  return keys;
}

// Names come again with every answer; here each has one number.
export class Names {
  readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();

  number(text: string): number {
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.texts.length;
      this.texts.push(text);
      this.numbers.set(text, number);
    }
    return number;
  }
}

// What an answer says of each of the tracks that were asked for.
export function contentsOf(answer: TimelineWindow, asked: readonly TrackId[], names: Names): Map<TrackId, Content> {
  const numbers = answer.names.map((name) => names.number(name));
  const contents = new Map<TrackId, Content>(asked.map((id) => [id, { kind: "nothing" }]));
  for (const track of answer.tracks) {
    if (isCounter(track)) {
      const t = Float64Array.from(track.t, (time) => time + answer.from);
      const [min, max, avg] = [
        Float64Array.from(track.min),
        Float64Array.from(track.max),
        Float64Array.from(track.avg),
      ];
      contents.set(track.id, { kind: "line", line: { t, min, max, avg } });
    } else {
      const boxes: Boxes = {
        depth: Int32Array.from(track.depth),
        start: Float64Array.from(track.start, (time) => time + answer.from),
        dur: Float64Array.from(track.dur),
        busy: Float64Array.from(track.busy ?? track.dur),
        name: Uint32Array.from(track.name, (number) => numbers[number] ?? 0),
        layer: Uint32Array.from(track.layer, (number) => numbers[number] ?? 0),
        count: Float64Array.from(track.count),
        row: Float64Array.from(track.row),
      };
      contents.set(track.id, { kind: "boxes", boxes });
    }
  }
  return contents;
}

// In boxes; a tile without any still takes its entry.
function sizeOf(content: Content): number {
  if (content.kind === "boxes") return content.boxes.start.length + 8;
  return content.kind === "line" ? content.line.t.length + 8 : 8;
}

// A stretch of time and what is known of it. The content may reach beyond the stretch.
export interface Segment {
  from: number;
  to: number;
  content: Content;
}

function segment(key: TileKey, content: Content): Segment {
  return { from: tileFrom(key), to: tileFrom(key) + tileSpan(key.level), content };
}

// Which boxes of a segment are to be drawn: those that begin in it; if nothing was drawn to its left, also those that
// began earlier. So a box that several tiles tell of is drawn once.
export function eachBox(segments: readonly Segment[], visit: (boxes: Boxes, at: number) => void): void {
  let drawnTo = Number.NEGATIVE_INFINITY;
  for (const { from, to, content } of segments) {
    const opens = drawnTo !== from;
    drawnTo = to;
    if (content.kind !== "boxes") continue;
    const { start, dur } = content.boxes;
    for (let at = 0; at < start.length; ++at) {
      const begin = start[at]!;
      if (begin >= to || (begin < from && !(opens && begin + dur[at]! > from))) continue;
      visit(content.boxes, at);
    }
  }
}

function keyText(track: TrackId, key: TileKey): string {
  return `${track}/${key.level}/${key.index}`;
}

// Keeps what was used last. Its limit is in boxes: 1.5 M of them are about 70 MB.
export class TileStore {
  readonly names = new Names();
  private readonly kept = new Map<string, Content>();
  private readonly stale = new Set<string>(); // shown until the answer of today is there
  private held = 0;
  private turns = 0;

  constructor(private readonly most = 1_500_000) {}

  get size(): number {
    return this.held;
  }

  // Another number when something was forgotten: an answer to what was asked before may be of yesterday.
  get age(): number {
    return this.turns;
  }

  has(track: TrackId, key: TileKey): boolean {
    const text = keyText(track, key);
    return this.kept.has(text) && !this.stale.has(text);
  }

  get(track: TrackId, key: TileKey): Content | undefined {
    const text = keyText(track, key);
    const content = this.kept.get(text);
    if (content) {
      this.kept.delete(text); // to the end: used last
      this.kept.set(text, content);
    }
    return content;
  }

  put(track: TrackId, key: TileKey, content: Content, age = this.turns): void {
    const text = keyText(track, key);
    this.drop(text);
    this.kept.set(text, content);
    if (age !== this.turns) this.stale.add(text);
    this.held += sizeOf(content);
    for (const oldest of this.kept.keys()) {
      if (this.held <= this.most || oldest === text) break;
      this.drop(oldest);
    }
  }

  // What lies behind a time may have changed, since a recording grows at its end. It is shown until it was asked again.
  forgetAfter(time: number): void {
    this.turns += 1;
    for (const text of [...this.kept.keys()]) {
      const [, level, index] = text.split("/").map(Number);
      if (tileFrom({ level: level!, index: index! + 1 }) > time) this.stale.add(text);
    }
  }

  // What to draw of a range: its own tiles, and where one is missing the nearest level that is there, coarser ones first.
  best(track: TrackId, range: Camera, level: number): Segment[] {
    return tilesOver(range, level).flatMap((key) => this.standIns(track, key));
  }

  private standIns(track: TrackId, key: TileKey): Segment[] {
    const own = this.get(track, key);
    if (own) return [segment(key, own)];
    for (let up = 1; key.level + up <= highestLevel && up <= 12; ++up) {
      const content = this.get(track, { level: key.level + up, index: Math.floor(key.index / 2 ** up) });
      if (content) return [segment(key, content)];
    }
    return this.finer(track, key, 2);
  }

  private finer(track: TrackId, key: TileKey, steps: number): Segment[] {
    if (steps === 0 || key.level === 0) return [];
    return [key.index * 2, key.index * 2 + 1].flatMap((index) => {
      const half = { level: key.level - 1, index };
      const content = this.get(track, half);
      return content ? [segment(half, content)] : this.finer(track, half, steps - 1);
    });
  }

  private drop(text: string): void {
    const content = this.kept.get(text);
    if (!content) return;
    this.held -= sizeOf(content);
    this.kept.delete(text);
    this.stale.delete(text);
  }
}
