// SPDX-License-Identifier: MIT
// From one event to another, and to a range of time, by keys.
import { hitsOf, type Hit, type Scene } from "./hit";
import type { Row } from "./rows";

interface Line {
  row: Row;
  depth: number;
}

// A pinned track is there a second time: it is walked through at its own place, or at the top if that is hidden.
function linesOfScene({ rows }: Scene): Line[] {
  const unpinned = new Set(rows.filter((row) => !row.pinned).map((row) => row.track.id));
  return rows
    .filter((row) => !row.pinned || !unpinned.has(row.track.id))
    .flatMap((row) => Array.from({ length: row.lines }, (_none, depth) => ({ row, depth })));
}

function distance(hit: Hit, time: number): number {
  return Math.max(hit.start - time, time - (hit.start + hit.dur), 0);
}

// The next event in the same line of the same track, or the one before.
export function besideOf(scene: Scene, now: Hit, by: 1 | -1): Hit | undefined {
  const hits = hitsOf(scene, now.track, now.depth);
  return hits[hits.findIndex((hit) => hit.start === now.start) + by];
}

// The nearest event in the next line below or above that has one on screen: another depth, or another track.
export function acrossOf(scene: Scene, now: Hit, by: 1 | -1): Hit | undefined {
  const lines = linesOfScene(scene);
  const here = lines.findIndex(({ row, depth }) => row.track.id === now.track.id && depth === now.depth);
  if (here < 0) return undefined;
  const time = now.start + now.dur / 2;
  for (let at = here + by; at >= 0 && at < lines.length; at += by) {
    const { row, depth } = lines[at]!;
    const hits = hitsOf(scene, row.track, depth);
    if (hits.length > 0) return hits.reduce((best, hit) => (distance(hit, time) < distance(best, time) ? hit : best));
  }
  return undefined;
}

// The first event on screen.
export function firstOf(scene: Scene, rows: readonly Row[]): Hit | undefined {
  for (const { row, depth } of linesOfScene({ ...scene, rows })) {
    const [first] = hitsOf(scene, row.track, depth);
    if (first) return first;
  }
  return undefined;
}

export interface Range {
  from: number | null;
  to: number | null;
}

// A range with another begin or end. An end that would lie before its begin is let go.
export function withEdge({ from, to }: Range, edge: "from" | "to", at: number): Range {
  if (edge === "from") {
    const begin = Math.max(0, Math.floor(at));
    return { from: begin, to: to !== null && to <= begin ? null : to };
  }
  const end = Math.ceil(at);
  return { from: from !== null && from >= end ? null : from, to: end };
}
