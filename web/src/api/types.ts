// SPDX-License-Identifier: MIT
// What the server says, as types: one for each answer of /api/v1. Times are integers in ns since the recording's begin.

export type RecordingState = "complete" | "running" | "partial";

export interface LayerFacts {
  name: string;
  events: number;
  reason: string | null; // why it recorded nothing
}

export interface Recording {
  id: string;
  name: string;
  place?: string; // by which commands on the server's machine find it
  command: string[];
  state: RecordingState;
  state_reason?: string; // why it is partial
  wall_ns: number;
  exit?: number; // the program's status
  overhead_ns?: number; // an estimate of what recording took
  runs?: number; // of a directory of repetitions
  hosts: string[];
  events: number; // of all layers: samples and counters too
  layers: LayerFacts[];
  lost: unknown;
}

// "file": there is no server; the document holds the answers (inside/).
export type PageMode = "view" | "server" | "file";

// #rrggbb, on a light page and on a dark one.
export interface LayerColour {
  name: string;
  light: string;
  dark: string;
}

export interface PageFacts {
  version: string;
  mode: PageMode;
  recordings: Recording[];
  not_shown?: { name: string; reason: string }[]; // named, but cannot be opened
  layers: LayerColour[]; // that have a colour, top down
  limits: { rows: number; timeout_ms: number };
}

export interface ViewFacts {
  name: string;
  help: string;
  by: string[];
  depth: boolean;
  call: boolean;
}

// A value of a table. Integers beyond 2^53 come as strings.
export type Cell = string | number | boolean | null | Cell[] | { [key: string]: Cell };

export interface QueryAnswer {
  columns: { name: string; type: string }[];
  rows: Cell[][];
  truncated: boolean;
  elapsed_ns: number;
}

export interface SchemaView {
  view: string;
  columns: { name: string; type: string; help: string }[];
}

export type TrackKind = "host" | "process" | "thread" | "stream" | "counter" | "layer" | "samples";

export type TrackId = number;

export interface Track {
  id: TrackId;
  parent: TrackId | null; // null or 0: none
  kind: TrackKind;
  name: string;
  host: string | null;
  pid: number | null;
  tid: number | null;
  rank: number | null;
  from: number;
  to: number;
  events: number;
  depth: number; // how many rows of boxes it has
  layer?: string; // of a layer or a counter
  unit?: string; // of a counter
  sums?: boolean; // calls that were added up over intervals: `count` of its boxes is calls, and no box has a row
}

export interface TrackList {
  tracks: Track[];
  building?: number; // 0 to 1: the index of the timeline is being made; until then answers are coarse
  lost?: { reason: string; count: number }[]; // what no track shows, and why
}

// Boxes of one track: arrays of equal length. `count` above 1: so many events drawn as one.
export interface BoxTrack {
  id: TrackId;
  depth: number[];
  start: number[]; // relative to the window's begin
  dur: number[];
  busy?: number[]; // time of the events in a box that holds several
  name: number[]; // into names
  layer: number[]; // into names
  count: number[];
  row: number[]; // of the event, or -1
}

export interface CounterTrack {
  id: TrackId;
  t: number[]; // relative to the window's begin
  min: number[];
  max: number[];
  avg: number[];
}

export interface FlowEnd {
  track: TrackId;
  t: number; // relative to the window's begin; one of the two ends may lie outside of the window
}

export interface TimelineWindow {
  from: number;
  to: number;
  names: string[];
  tracks: (BoxTrack | CounterTrack)[];
  flows?: { from: FlowEnd; to: FlowEnd }[];
  building?: number; // as in TrackList
}

export function isCounter(track: BoxTrack | CounterTrack): track is CounterTrack {
  return "avg" in track;
}

export interface EventFacts {
  event: { [field: string]: Cell };
  parents: { [field: string]: Cell }[];
  flows: { [field: string]: Cell }[];
}

export type FlameWeight = string; // time, cpu, offcpu, bytes, calls, or the name of a counter
export type FlameOrder = "tree" | "time";

export interface FlameAnswer {
  weight: FlameWeight;
  unit: string;
  total: number;
  names: string[];
  nodes: {
    parent: number[]; // -1: a root; parents stand before their children
    name: number[];
    layer: number[];
    self: number[];
    total: number[];
    calls: number[];
    start?: number[]; // with order=time: a node is a stretch of time, below its thread
  };
}

export interface HeatmapAnswer {
  bin_ns: number;
  rows: { id: string; name: string }[];
  cells: number[][]; // a list of bins for each row
  unit: string;
}

export interface OffsetsAnswer {
  offset_bin: number;
  time_bin_ns: number;
  read: number[][];
  write: number[][];
}

// What /changes tells while a recording is being made, and once at its end.
export interface Change {
  state: RecordingState;
  wall_ns: number;
  events: number;
}
