// SPDX-License-Identifier: MIT
// What lies under a place of the picture, and what stands next to it in its line.
import type { Track } from "../api/types";
import { spanOf, timeAt, type Camera } from "./camera";
import { lineHeightOf, between, type Row } from "./rows";
import { eachBox, levelOf, type TileStore } from "./tiles";

export interface Hit {
  track: Track;
  name: string;
  layer: string;
  depth: number;
  start: number;
  dur: number;
  busy: number; // time of its events
  count: number;
  row: number; // of the event; -1: several are drawn as one
}

export interface Scene {
  rows: readonly Row[];
  tiles: TileStore;
  camera: Camera;
  width: number;
}

const reach = 3; // px to both sides of a narrow box

export function rowAt(rows: readonly Row[], y: number): Row | null {
  const [at] = between(rows, y, y + 1);
  const row = rows[at];
  return row && row.y <= y && y < row.y + row.height ? row : null;
}

// `y` counts in the height of all rows. The box under the place, or the nearest within reach.
export function hitAt(scene: Scene, x: number, y: number): Hit | null {
  const row = rowAt(scene.rows, y);
  if (!row || row.track.kind === "counter") return null;
  const depth = Math.floor((y - row.y - 1) / lineHeightOf(row.track));
  if (depth < 0 || depth >= row.lines) return null;
  const time = timeAt(scene.camera, x, scene.width);
  const tolerance = (spanOf(scene.camera) / scene.width) * reach;
  let best: Hit | null = null;
  let distance = Number.POSITIVE_INFINITY;
  for (const hit of hitsOf(scene, row.track, depth)) {
    const off = Math.max(hit.start - time, time - (hit.start + hit.dur), 0);
    if (off < distance && off <= tolerance) [best, distance] = [hit, off];
  }
  return best;
}

// All boxes of a line that are on screen, by time.
export function hitsOf(scene: Scene, track: Track, depth: number): Hit[] {
  const { tiles, camera, width } = scene;
  const names = tiles.names.texts;
  const hits: Hit[] = [];
  eachBox(tiles.best(track.id, camera, levelOf(camera, width)), (boxes, at) => {
    if (boxes.depth[at] !== depth) return;
    const [start, dur, busy] = [boxes.start[at]!, boxes.dur[at]!, boxes.busy[at]!];
    if (start > camera.to || start + dur < camera.from) return;
    const [name, layer] = [names[boxes.name[at]!] ?? "", names[boxes.layer[at]!] ?? ""];
    hits.push({ track, name, layer, depth, start, dur, busy, count: boxes.count[at]!, row: boxes.row[at]! });
  });
  return hits.sort((a, b) => a.start - b.start);
}

// Everything on screen of the given rows: what is saved as CSV.
export function allHits(scene: Scene, rows: readonly Row[]): Hit[] {
  return rows.flatMap((row) => {
    const hits: Hit[] = [];
    if (row.track.kind === "counter") return hits;
    const levels = row.lines + row.more; // also those that a first look leaves out
    for (let depth = 0; depth < levels; ++depth) hits.push(...hitsOf(scene, row.track, depth));
    return hits;
  });
}
