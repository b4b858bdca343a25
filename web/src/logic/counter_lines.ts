// SPDX-License-Identifier: MIT
// The question for counters, and its answer as lines. Statement `counters` takes the last value of each counter in each part
// of the range, and the nearest before and after it; for levels, the highest too would hide how often it was reached. An
// answer has a row for each line, whose values are lists: so few rows are never cut.
import type { Part } from "../api/client";
import type { Values } from "../api/statements";
import type { Cell } from "../api/types";
import type { Line } from "./series";
import { humanNs, withThousands } from "./units";

const MOST_BINS = 600; // of a line: more than a plot has room for
// Of all lines together: an answer of a megabyte, which is parsed and drawn in some ten milliseconds.
const MOST_POINTS = 48_000;
// Of all counters; each has the same share. A plot draws the first few, its CSV has all.
const MOST_LINES = 1000;

export type CounterPart = Pick<Part, "hosts" | "pids" | "tids" | "layers">;

export interface CounterLine extends Line {
  layer: string;
  host: string;
  pid: number; // -1: of the machine
  tid: number; // -1: of the process
  linesOfName: number; // of all lines of this name that are selected, also those that were left out
  width: number; // of a bin, ns
}

// What the statement is filled with.
export function counterValues(part: CounterPart, from: number, to: number): Values {
  const { hosts = [], pids = [], tids = [], layers = [] } = part;
  return { from, to, bins: MOST_BINS, points: MOST_POINTS, lines: MOST_LINES, hosts, pids, tids, layers };
}

type Row = readonly Cell[];

// Columns of a row, in the order of the statement.
const [NAME, UNIT, LAYER, HOST, PID, TID, LINES_OF_NAME, BEGIN, WIDTH, BINS, VALUES, READ_AT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
] as const;

function numbersIn(cell: Cell | undefined): Float64Array {
  const cells = (cell ?? []) as readonly (string | number)[];
  const numbers = new Float64Array(cells.length); // a loop: Float64Array.from is slow, and there are 100,000 of them
  for (let at = 0; at < cells.length; ++at) numbers[at] = Number(cells[at]);
  return numbers;
}

// Bins before and after the range, -1 and -2, are drawn where they were read.
function momentsOf(bins: Float64Array, readAt: Float64Array, begin: number, width: number): Float64Array {
  return bins.map((bin, at) => (bin < 0 ? readAt[at]! : begin + bin * width));
}

function lineOf(row: Row): CounterLine {
  const [begin, width] = [Number(row[BEGIN]), Number(row[WIDTH])];
  const readAt = numbersIn(row[READ_AT]);
  return {
    name: String(row[NAME]),
    unit: String(row[UNIT]),
    layer: String(row[LAYER]),
    host: String(row[HOST]),
    pid: Number(row[PID]),
    tid: Number(row[TID]),
    linesOfName: Number(row[LINES_OF_NAME]),
    width,
    who: "",
    ts: momentsOf(numbersIn(row[BINS]), readAt, begin, width),
    at: readAt,
    values: numbersIn(row[VALUES]),
  };
}

// Who a line belongs to is said as shortly as it stays clear.
export function counterLines(rows: readonly Row[]): CounterLine[] {
  const lines = rows.map(lineOf);
  const several = new Set(lines.map(({ host }) => host)).size > 1;
  for (const line of lines) {
    const process = line.pid <= 0 ? "machine" : `pid ${line.pid}`;
    const words = [several ? line.host : "", process, line.tid > 0 ? `thread ${line.tid}` : ""];
    line.who = words.filter(Boolean).join(" ");
  }
  return lines;
}

// The statement's condition: what belongs to no process or no thread stays.
function isLineOf(row: Row, { hosts = [], pids = [], tids = [], layers = [] }: CounterPart): boolean {
  const [pid, tid] = [Number(row[PID]), Number(row[TID])];
  return (
    (hosts.length === 0 || hosts.includes(String(row[HOST]))) &&
    (pids.length === 0 || pid < 0 || pids.includes(pid)) &&
    (tids.length === 0 || tid < 0 || tids.includes(tid)) &&
    (layers.length === 0 || layers.includes(String(row[LAYER])))
  );
}

// What the statement would have answered of a part, from its answer of everything.
export function rowsOfPart(rows: readonly Cell[][], part: CounterPart): Cell[][] {
  const others = new Map<Cell, number>();
  for (const row of rows) if (!isLineOf(row, part)) others.set(row[NAME]!, (others.get(row[NAME]!) ?? 0) + 1);
  return rows
    .filter((row) => isLineOf(row, part))
    .map((row) => {
      const left = Number(row[LINES_OF_NAME]) - (others.get(row[NAME]!) ?? 0);
      return row.map((cell, at) => (at === LINES_OF_NAME ? left : cell));
    });
}

// Which lines of which counters were left out: "rss (20 of 300)".
function leftOut(lines: readonly CounterLine[]): string[] {
  const shown = new Map<string, { count: number; of: number }>();
  for (const { name, linesOfName } of lines) {
    const before = shown.get(name)?.count ?? 0;
    shown.set(name, { count: before + 1, of: linesOfName });
  }
  return [...shown].flatMap(([name, { count, of }]) =>
    count < of ? [`${name} (${withThousands(of - count)} of ${withThousands(of)})`] : [],
  );
}

// Whether points were joined because there are many lines.
function isCoarse(lines: readonly CounterLine[], from: number, to: number): boolean {
  const bins = (to - from) / Math.max(lines[0]?.width ?? 0, 1);
  return bins < MOST_BINS * 0.9 && lines.some(({ ts }) => ts.length > bins * 0.9);
}

// What of the selection the lines do not follow, and what is not shown, in sentences.
export function counterNotes(lines: readonly CounterLine[], part: Part, from: number, to: number): string[] {
  const notes: string[] = [];
  const [pids, tids] = [part.pids?.length ?? 0, part.tids?.length ?? 0];
  if (part.where) notes.push("The condition is one on events; counters do not follow it.");
  if (tids > 0 && lines.some(({ pid, tid }) => pid > 0 && tid < 0))
    notes.push("Counters of a process do not tell its threads apart: they are those of whole processes.");
  if (pids + tids > 0 && lines.some(({ pid }) => pid <= 0))
    notes.push("Counters of the machine belong to no process: they are shown whichever is selected.");
  const missing = leftOut(lines);
  if (missing.length > 0)
    notes.push(`Lines that are not shown: ${missing.join(", ")}. Select processes or hosts to see theirs.`);
  if (isCoarse(lines, from, to))
    notes.push(
      `There are many lines: each has one value in ${humanNs(lines[0]!.width)}. Select processes to see more.`,
    );
  return notes;
}
