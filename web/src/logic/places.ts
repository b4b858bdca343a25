// SPDX-License-Identifier: MIT
// Where an insight or a row leads: a view, and which events it speaks of. The time of these events
// is asked of the server when somebody goes there.

export interface Place {
  view: "timeline" | "flame" | "io" | "gpu" | "resources" | "overview";
  where?: string; // a condition on events, or on samples
  of?: "events" | "samples";
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

const READS = "category = 'read'";
const WRITES = "category = 'write'";
const OPENS = "category = 'open'";
const CUDA = "layer = 'cuda'";
const OFF = "event = 'off-cpu'";

// The first pattern that fits the rule's id.
const PLACES: readonly (readonly [RegExp, Place])[] = [
  [/^small-reads|small-reads$/, { view: "timeline", where: `${READS} AND bytes < 65536` }],
  [/^small-writes|small-writes$/, { view: "timeline", where: `${WRITES} AND bytes < 65536` }],
  [/^small-transfers/, { view: "timeline", where: `${CUDA} AND category = 'copy'` }],
  [/^small-kernels/, { view: "timeline", where: "layer = 'gpu' AND category = 'kernel'" }],
  [
    /^checkpoint/,
    { view: "timeline", where: "lower(name) LIKE '%checkpoint%' OR lower(category) LIKE '%checkpoint%'" },
  ],
  [
    /^training-waits-for-data/,
    { view: "timeline", where: "layer = 'app' AND regexp_matches(lower(name), 'data|load|fetch')" },
  ],
  [/^gpus-idle|^gpu-slowed/, { view: "gpu" }],
  [/^waits-for-gpu/, { view: "timeline", where: `${CUDA} AND lower(name) LIKE '%synchron%'` }],
  [/^gpu-/, { view: "timeline", where: CUDA }],
  [/^sync-|^flush-/, { view: "timeline", where: "category = 'sync'" }],
  [/^lock-/, { view: "timeline", where: "category = 'lock'" }],
  [/^failed-opens/, { view: "timeline", where: `${OPENS} AND error IS NOT NULL` }],
  [/^direct-io-refused/, { view: "timeline", where: "error = 'EINVAL'" }],
  [/^many-small-files|^open-close/, { view: "timeline", where: OPENS }],
  [/^metadata|^repeated-stat/, { view: "timeline", where: "category = 'metadata'" }],
  [/^seek-/, { view: "timeline", where: "category = 'seek'" }],
  [/^stdio-/, { view: "timeline", where: "layer = 'stdio'" }],
  [/read/, { view: "timeline", where: READS }],
  [/writ/, { view: "timeline", where: WRITES }],
  [/^io-bound|^misaligned/, { view: "io" }],
  [/^memory-growth/, { view: "resources" }],
  [/^waits-for-cpu/, { view: "timeline", of: "samples", where: "ready > 0" }],
  [/^waits-for|^sleep-|^children-/, { view: "timeline", of: "samples", where: OFF }],
  [/^hot-function|^few-instructions|^page-faults/, { view: "timeline", of: "samples", where: `NOT (${OFF})` }],
];

export function placeOf(rule: string): Place {
  return PLACES.find(([pattern]) => pattern.test(rule))?.[1] ?? { view: "timeline" };
}

export const PLACE_BINS = 100;

// The hundredth of the run in which these events took most time, and its neighbours as long as they
// have events too: begin and end, in ns.
export function busiestRange(
  bins: readonly { bin: number; time: number }[],
  wall: number,
): [number, number] | undefined {
  const best = bins.reduce<{ bin: number; time: number } | undefined>(
    (most, bin) => (most === undefined || bin.time > most.time ? bin : most),
    undefined,
  );
  if (!best) return undefined;
  const filled = new Set(bins.filter((bin) => bin.time > best.time / 4).map((bin) => bin.bin));
  let [first, last] = [best.bin, best.bin];
  while (filled.has(first - 1)) first -= 1;
  while (filled.has(last + 1)) last += 1;
  const width = wall / PLACE_BINS;
  return [Math.max(0, Math.floor(first * width)), Math.min(wall, Math.ceil((last + 1) * width))];
}

export function busiestSql(where: string, wall: number, of: "events" | "samples" = "events"): string {
  const width = Math.max(1, Math.ceil(wall / PLACE_BINS));
  const time = of === "events" ? "dur + 1" : "weight";
  return `SELECT CAST(ts // ${width} AS INTEGER) AS bin, CAST(sum(${time}) AS DOUBLE) AS time FROM ${of} WHERE (${where}) AND ts >= 0 GROUP BY bin ORDER BY bin`;
}

export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
