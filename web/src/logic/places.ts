// SPDX-License-Identifier: MIT
// Where an insight or a row leads: a view, and which rows it speaks of. The time of these rows is asked of the server when
// somebody goes there. What is selected bounds the place.
import type { Part } from "../api/client";
import { sqlText } from "./sql_text";

export type PlaceRows = "events" | "samples" | "processes";

export interface Place {
  view: string;
  of?: PlaceRows;
  where?: string; // a condition on these rows, in SQL
  said?: string; // what a rule says of its place: a page without a server knows it by that
}

export function eventsNamed(name: string, layer?: string): Place {
  const also = layer ? ` AND layer = ${sqlText(layer)}` : "";
  return { view: "timeline", where: `name = ${sqlText(name)}${also}` };
}

// Samples in which a function was on the stack.
export function samplesOf(name: string): Place {
  const stacks = `SELECT stack FROM frames WHERE function = ${sqlText(name)}`;
  return { view: "timeline", of: "samples", where: `stack IN (${stacks})` };
}

// What a rule says of its place (docs/rules.md): "events where …", "view gpu". undefined where it names none.
export function placeIn(said: string | null | undefined): Place | undefined {
  const rows = /^(events|samples|processes) where (.+)$/s.exec(said ?? "");
  if (rows) return { view: "timeline", of: rows[1] as PlaceRows, where: rows[2]!, said: said! };
  const view = /^view ([a-z]+)$/.exec(said ?? "");
  return view ? { view: view[1]! } : undefined;
}

function isOneOf(column: string, values: readonly (string | number)[] | undefined): string[] {
  if (!values || values.length === 0) return [];
  return [`${column} IN (${values.map((each) => (typeof each === "number" ? each : sqlText(each))).join(", ")})`];
}

// The condition of a place within what is selected, but for its time. Layers and `where` speak of events.
export function whereIn(of: PlaceRows, where: string, part: Part): string {
  const { hosts, pids, tids, layers } = part;
  const conditions = [where, ...isOneOf("host", hosts), ...isOneOf("pid", pids)];
  if (of !== "processes") conditions.push(...isOneOf("tid", tids));
  if (of === "events") conditions.push(...isOneOf("layer", layers), ...(part.where ? [part.where] : []));
  return conditions.map((each) => `(${each})`).join(" AND ");
}

export interface Bounds {
  from: number;
  to: number;
}

// The selected time of a recording that is so long.
export function boundsOf({ from, to }: Part, wall: number): Bounds {
  return { from: from ?? 0, to: to ?? wall };
}

export const PLACE_BINS = 100;

export function binWidth({ from, to }: Bounds): number {
  return Math.max(1, Math.ceil((to - from) / PLACE_BINS));
}

// A row of the statement `busiest`: a bin, its time, and the first and last of the hosts and processes in it.
export interface BusyBin {
  bin: number;
  time: number;
  hosts?: readonly [string, string];
  pids?: readonly [number | null, number | null];
}

export function busyBins(rows: readonly (readonly unknown[])[]): BusyBin[] {
  const number = (cell: unknown): number | null => (cell === null || cell === undefined ? null : Number(cell));
  return rows.map(([bin, time, host, lastHost, pid, lastPid]) => ({
    bin: Number(bin),
    time: Number(time),
    hosts: [String(host ?? ""), String(lastHost ?? "")],
    pids: [number(pid), number(lastPid)],
  }));
}

// The hundredth of the time in which these rows took most, and its neighbours as long as they have much of it too.
export function busiestRange(bins: readonly BusyBin[], within: Bounds): [number, number] | undefined {
  const best = bins.reduce<BusyBin | undefined>(
    (most, bin) => (most === undefined || bin.time > most.time ? bin : most),
    undefined,
  );
  if (!best) return undefined;
  const filled = new Set(bins.filter((bin) => bin.time > best.time / 4).map((bin) => bin.bin));
  let [first, last] = [best.bin, best.bin];
  while (filled.has(first - 1)) first -= 1;
  while (filled.has(last + 1)) last += 1;
  const width = binWidth(within);
  return [within.from + first * width, Math.min(within.to, within.from + (last + 1) * width)];
}

// The process of all rows, where they are those of one.
export function onlyProcess(bins: readonly BusyBin[]): { hosts: string[]; pids: number[] } | undefined {
  const hosts = new Set(bins.flatMap((bin) => bin.hosts ?? []));
  const pids = new Set(bins.flatMap((bin) => bin.pids ?? []));
  const [host, pid] = [[...hosts][0], [...pids][0]];
  if (hosts.size !== 1 || pids.size !== 1 || pid === null || pid === undefined) return undefined;
  return { hosts: host ? [host] : [], pids: [pid] };
}

// What is shown of a stretch of time: a hundredth more at both ends, so that edges show, but nothing beyond what is selected.
export function withRoom(begin: number, end: number, { from, to }: Partial<Part>): Bounds {
  const room = Math.ceil((end - begin) / 100);
  return {
    from: Math.max(0, from ?? 0, Math.floor(begin - room)),
    to: Math.min(to ?? Infinity, Math.ceil(end + room)),
  };
}
