// SPDX-License-Identifier: MIT
// A function for each route of /api/v1. They know nothing of signals; Asked (asked.ts) keeps the answers for a view.
import type {
  Cell,
  EventFacts,
  FlameAnswer,
  FlameOrder,
  FlameWeight,
  HeatmapAnswer,
  OffsetsAnswer,
  PageFacts,
  QueryAnswer,
  SchemaView,
  TimelineWindow,
  TrackId,
  TrackList,
  ViewFacts,
} from "./types";
import { pageKey } from "./key";
import { apiRoot, HttpTransport, queryOf, type AskedStatement, type Params, type Transport } from "./transport";

// The part of a recording that a question is about. Everything absent means all of it.
export interface Part {
  recording?: string;
  from?: number | null;
  to?: number | null;
  hosts?: readonly string[];
  pids?: readonly number[];
  tids?: readonly number[];
  layers?: readonly string[];
  where?: string;
}

export function paramsOf(part: Part): Params {
  return {
    recording: part.recording,
    from: part.from,
    to: part.to,
    host: part.hosts,
    pid: part.pids,
    tid: part.tids,
    layers: part.layers,
    where: part.where,
  };
}

export interface ReportWish {
  by?: string;
  top?: number;
  depth?: number;
  call?: string;
  file?: string;
}

export interface FlameWish {
  weight: FlameWeight;
  order?: FlameOrder;
  invert?: boolean;
  min?: number;
}

export interface HeatmapWish {
  rows: "thread" | "rank" | "process" | "file";
  what: "bytes" | "calls" | "time";
  category?: "read" | "write" | "all";
  bins: number;
  top?: number;
}

export interface OffsetsWish {
  file: string;
  bins: number;
}

// What the index of a timeline is made of. Its tracks tell hosts, processes and threads by themselves.
export type EventPart = Pick<Part, "layers" | "where">;

export interface TimelineWish extends EventPart {
  recording?: string;
  from: number;
  to: number;
  width: number;
  tracks: readonly TrackId[];
  flows?: boolean;
}

let transport: Transport = new HttpTransport();

export function useTransport(other: Transport): void {
  transport = other;
}

async function get<T>(path: string, params: Params, signal?: AbortSignal): Promise<T> {
  return (await transport.get(path, params, signal)) as T;
}

export const api = {
  page: (signal?: AbortSignal) => get<PageFacts>("/page", {}, signal),

  views: (signal?: AbortSignal) => get<ViewFacts[]>("/views", {}, signal),

  // What `fathom report VIEW --format json` prints.
  report: (view: string, wish: ReportWish, part: Part, signal?: AbortSignal) =>
    get<{ [key: string]: Cell }>(`/report/${encodeURIComponent(view)}`, { ...wish, ...paramsOf(part) }, signal),

  query: async (sql: string, recording?: string, limit?: number, signal?: AbortSignal) =>
    (await transport.post("/query", { recording, sql, limit }, signal)) as QueryAnswer,

  statement: (asked: AskedStatement, signal?: AbortSignal) => transport.statement(asked, signal),

  schema: (recording?: string, signal?: AbortSignal) => get<SchemaView[]>("/schema", { recording }, signal),

  tracks: (recording?: string, signal?: AbortSignal, of: EventPart = {}) =>
    get<TrackList>("/tracks", { recording, layers: of.layers, where: of.where }, signal),

  timeline: (wish: TimelineWish, signal?: AbortSignal) =>
    get<TimelineWindow>("/timeline", { ...wish, flows: wish.flows ? 1 : null }, signal),

  // A row is one of the index that was asked: `of` is that of the timeline.
  event: (row: number, recording?: string, signal?: AbortSignal, of: EventPart = {}) =>
    get<EventFacts>("/event", { row, recording, layers: of.layers, where: of.where }, signal),

  flame: (wish: FlameWish, part: Part, signal?: AbortSignal) =>
    get<FlameAnswer>("/flame", { ...wish, invert: wish.invert ? 1 : 0, ...paramsOf(part) }, signal),

  heatmap: (wish: HeatmapWish, part: Part, signal?: AbortSignal) =>
    get<HeatmapAnswer>("/heatmap", { ...wish, ...paramsOf(part) }, signal),

  offsets: (wish: OffsetsWish, part: Part, signal?: AbortSignal) =>
    get<OffsetsAnswer>("/offsets", { ...wish, ...paramsOf(part) }, signal),

  // Routes that only `fathom server` has: jobs, agents, trends.
  other: <T>(path: string, params: Params = {}, signal?: AbortSignal) => get<T>(path, params, signal),
};

// An address to download from: what `fathom export` makes of the part. A link sends no headers, so the key is in it.
export function exportUrl(format: string, part: Part): string {
  return `${apiRoot}/export${queryOf({ format, ...paramsOf(part), key: pageKey() })}`;
}
