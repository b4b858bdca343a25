// SPDX-License-Identifier: MIT
// The rows of the timeline, from top to bottom: pinned tracks first, then hosts, processes, threads and what belongs to
// them, without what is collapsed or not selected. A first look has to show every thread: of deep tracks only the outer
// levels are drawn, and counters stand in a closed group, until somebody opens them. Positions are sums, so that the rows
// on screen are found without looking at all ten thousand.
import type { Track, TrackId } from "../api/types";
import { counted } from "../logic/units";

export interface Row {
  track: Track;
  y: number; // from the top of all rows
  height: number;
  level: number; // of nesting, for the indent of the name
  lines: number; // of boxes
  more: number; // levels that are not drawn
  group: boolean; // has rows below it, which can be hidden
  collapsed: boolean;
  pinned: boolean;
}

export interface Shown {
  collapsed: ReadonlySet<TrackId>;
  opened: ReadonlySet<TrackId>; // all levels are drawn; of a group of counters: all counters
  pinned: readonly TrackId[];
  hosts: readonly string[]; // empty: all
  pids: readonly number[];
  tids: readonly number[];
}

export const lineHeight = 18;
export const sampleHeight = 14;
export const counterHeight = 32;
export const gap = 5;

const titleHeight = 22;
const firstLevels = 6; // of calls
const firstSamples = 3; // of sampled functions
const fewCounters = 3; // these need no group

export function lineHeightOf(track: Track): number {
  return track.kind === "samples" ? sampleHeight : lineHeight;
}

// Where a single level would be left out, it is drawn as well.
function linesOf(track: Track, collapsed: boolean, opened: boolean): number {
  if (track.kind === "counter" || track.events === 0) return 0;
  if (collapsed) return 1;
  const first = track.kind === "samples" ? firstSamples : firstLevels;
  return opened || track.depth <= first + 1 ? Math.max(1, track.depth) : first;
}

// Whether closing it would leave out levels, or has done so.
export function isDeep(track: Track): boolean {
  return track.events > 0 && track.depth > linesOf(track, false, false);
}

// Groups of counters are tracks of the page alone: the server knows no negative number.
export function isCounterGroup(track: Track): boolean {
  return track.id < 0;
}

export function groupOf(parent: TrackId): TrackId {
  return -1 - parent;
}

function counterGroup(counters: readonly Track[]): Track {
  const [first] = counters as [Track];
  const name = counted(counters.length, "counter");
  return { ...first, id: groupOf(first.parent ?? 0), kind: "layer", name, events: 0, depth: 0 };
}

function heightOf(track: Track, lines: number): number {
  if (track.kind === "counter") return counterHeight + gap;
  return Math.max(titleHeight, lines * lineHeightOf(track) + gap);
}

function isChosen(track: Track, shown: Shown): boolean {
  const { hosts, pids, tids } = shown;
  if (hosts.length > 0 && track.host && !hosts.includes(track.host)) return false;
  if (pids.length > 0 && track.pid !== null && !pids.includes(track.pid)) return false;
  if (pids.length > 0 && track.pid === null && track.kind !== "host") return false;
  if (tids.length > 0 && track.tid !== null && !tids.includes(track.tid)) return false;
  return tids.length === 0 || track.tid !== null || track.kind === "host" || track.kind === "process";
}

// A host or process of which nothing is left is left out as well.
function withoutEmpty(tracks: readonly Track[], shown: Shown): Track[] {
  const limited = shown.hosts.length + shown.pids.length + shown.tids.length > 0;
  if (!limited) return [...tracks];
  const kept = new Set<TrackId>();
  const chosen = tracks.filter((track) => isChosen(track, shown));
  for (const track of [...chosen].reverse()) {
    const alone = track.kind === "host" || track.kind === "process";
    if (alone && track.events === 0 && !kept.has(track.id)) continue;
    kept.add(track.id);
    if (track.parent) kept.add(track.parent);
  }
  return chosen.filter((track) => kept.has(track.id));
}

// Below a host or a process, its threads and processes come first: counters are many, and events are what is looked for.
function countersLast(tracks: readonly Track[]): Track[] {
  const below = new Map<TrackId, Track[]>();
  const known = new Set(tracks.map((track) => track.id));
  for (const track of tracks) {
    const parent = track.parent && known.has(track.parent) ? track.parent : 0;
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent)!.push(track);
  }
  const ordered: Track[] = [];
  const add = (parent: TrackId): void => {
    const children = below.get(parent) ?? [];
    below.delete(parent); // whoever is his own ancestor is met once
    const isCounter = (track: Track): boolean => track.kind === "counter";
    for (const track of children.filter((each) => !isCounter(each))) {
      ordered.push(track);
      add(track.id);
    }
    ordered.push(...grouped(children.filter(isCounter)));
  };
  add(0);
  return ordered;
}

function grouped(counters: readonly Track[]): Track[] {
  if (counters.length <= fewCounters) return [...counters];
  const group = counterGroup(counters);
  return [group, ...counters.map((track) => ({ ...track, parent: group.id }))];
}

// A strip of samples of a thread that was never sampled shows nothing.
function isEmpty(track: Track): boolean {
  return track.kind === "samples" && track.events === 0;
}

// One pass over the tracks, which stand parents first: what is below a collapsed one is passed over.
export function rowsOf(all: readonly Track[], shown: Shown): Row[] {
  const tracks = all.filter((track) => !isEmpty(track));
  const rows: Row[] = [];
  let y = 0;
  const closed = (id: TrackId): boolean => (id < 0 ? !shown.opened.has(id) : shown.collapsed.has(id));
  const add = (track: Track, level: number, group: boolean, pinned: boolean): void => {
    const collapsed = closed(track.id) && !pinned;
    const lines = linesOf(track, collapsed, shown.opened.has(track.id));
    const height = heightOf(track, lines);
    const more = lines === 0 || collapsed ? 0 : track.depth - lines;
    rows.push({ track, y, height, level, lines, more, group: group || track.depth > 1, collapsed, pinned });
    y += height;
  };
  const byId = new Map(tracks.map((track) => [track.id, track]));
  for (const id of shown.pinned) {
    const track = byId.get(id);
    if (track) add(track, 0, false, true);
  }
  const parents = new Set(tracks.map((track) => track.parent));
  const levels = new Map<TrackId, number>();
  const hidden = new Set<TrackId>();
  for (const track of countersLast(withoutEmpty(tracks, shown))) {
    const below = track.parent || null;
    const level = below !== null ? (levels.get(below) ?? -1) + 1 : 0;
    levels.set(track.id, level);
    if (below !== null && (hidden.has(below) || closed(below))) {
      hidden.add(track.id);
      continue;
    }
    add(track, level, parents.has(track.id) || isCounterGroup(track), false);
  }
  return rows;
}

export function totalHeight(rows: readonly Row[]): number {
  const last = rows.at(-1);
  return last ? last.y + last.height : 0;
}

// The first and the row behind the last that lie between two heights.
export function between(rows: readonly Row[], top: number, bottom: number): [number, number] {
  return [firstBelow(rows, top), Math.min(rows.length, firstStarting(rows, bottom))];
}

function firstBelow(rows: readonly Row[], y: number): number {
  return search(rows, (row) => row.y + row.height > y);
}

function firstStarting(rows: readonly Row[], y: number): number {
  return search(rows, (row) => row.y >= y);
}

function search(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(rows[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function ancestorsOf(track: Track, tracks: readonly Track[]): TrackId[] {
  const above = new Map(tracks.map((each) => [each.id, each.parent]));
  const found: TrackId[] = [];
  for (let id = track.parent; id && !found.includes(id); id = above.get(id) ?? null) found.push(id);
  return found;
}

// Tells where a track came from, in words: "host a, process 7 (python), thread 9".
export function pathOf(track: Track, byId: ReadonlyMap<TrackId, Track>): string[] {
  const path = [track.name];
  let above = track.parent ? byId.get(track.parent) : undefined;
  for (let steps = 0; above && steps < 8; ++steps) {
    path.unshift(above.name);
    above = above.parent ? byId.get(above.parent) : undefined;
  }
  return path;
}
