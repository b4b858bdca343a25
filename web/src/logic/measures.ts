// SPDX-License-Identifier: MIT
// What the columns of reports are measured in. JSON has plain numbers; `fathom report` on a terminal
// knows the unit of a column by its view (set_measures in src/analysis/views). A name means the same
// in nearly all tables; those where it does not are listed by the key of their table.
import type { Measure } from "./units";

const NS =
  "wall self total time busy idle span longest p50 p99 p95 max mean median first rest start in_calls running waiting " +
  "ready waited cpu io app turn gain since gpu_total gpu_mean gpu_max step_p50 step_p95 step_p99 data compute " +
  "checkpoint compile other loading forward backward optimizer step_max app_io unoverlapped_app_io posix_io " +
  "unoverlapped_posix_io unoverlapped_compute";
const BYTES =
  "bytes read written per_read per_write redundant allocated peak in_use bytes_each gpu_bytes bytes_a_second shared_memory from";
const COUNT =
  "calls errors events count files positioned consecutive sequential strided random small misaligned runs turns waits " +
  "threads samples gaps stretches captured allocations frees steps";
const PERCENT = "share trend stall behind percent";

type ByColumn = Record<string, Measure>;

function words(list: string, measure: Measure): [string, Measure][] {
  return list.split(" ").map((name) => [name, measure]);
}

const USUAL = new Map<string, Measure>([
  ...words(NS, "ns"),
  ...words(BYTES, "bytes"),
  ...words(COUNT, "count"),
  ...words(PERCENT, "percent"),
]);

const LATENCIES: ByColumn = { from: "ns" };
const SIZES: ByColumn = { p50: "bytes", p95: "bytes", p99: "bytes" };
const RATES: ByColumn = { mean: "bytes", peak: "bytes", max: "bytes" };

// Tables of comparisons: levels of both sides, the change, and the interval that it lies in.
function change(measure: Measure): ByColumn {
  const sides: ByColumn = { before: measure, after: measure, change: measure, low: measure, high: measure };
  return { ...sides, explains: "percent", calls_old: "count", calls_new: "count" };
}

const BY_TABLE: Record<string, ByColumn> = {
  i_o_latencies: LATENCIES,
  latencies_of_calls: LATENCIES,
  sizes_percentiles: SIZES,
  cpu_over_time: { mean: "percent", max: "percent" },
  memory_over_time: RATES,
  i_o_a_second: RATES,
  run_time: change("ns"),
  counters_time: change("ns"),
  run_memory_and_bytes: change("bytes"),
  counters_bytes: change("bytes"),
  run_counts: change("count"),
  counters_counts: change("count"),
  run_percent: change("percent"),
  counters_percent: change("percent"),
  by_sampled_function: change("ns"),
  by_layer: change("ns"),
  by_function: change("ns"),
  by_file: change("ns"),
  by_pid: change("ns"),
  by_category: change("ns"),
};

export function measureOf(table: string, column: string): Measure {
  return BY_TABLE[table]?.[column] ?? USUAL.get(column) ?? "none";
}
