// SPDX-License-Identifier: MIT
// Where an insight or a row leads: a view, and which events it speaks of. The time of these events
// is asked of the server when somebody goes there.

export interface Place {
  view: "timeline" | "flame" | "io" | "gpu" | "resources" | "overview";
  where?: string; // a condition on events
}

const READS = "category = 'read'";
const WRITES = "category = 'write'";
const OPENS = "category = 'open'";
const CUDA = "layer = 'cuda'";

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
  [/^hot-function|^few-instructions|^page-faults|^waits-for|^sleep-|^children-/, { view: "flame" }],
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

export function busiestSql(where: string, wall: number): string {
  const width = Math.max(1, Math.ceil(wall / PLACE_BINS));
  return `SELECT CAST(ts // ${width} AS INTEGER) AS bin, CAST(sum(dur + 1) AS DOUBLE) AS time FROM events WHERE (${where}) AND ts >= 0 GROUP BY bin ORDER BY bin`;
}

export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
