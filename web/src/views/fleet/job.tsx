// SPDX-License-Identifier: MIT
// One job: its sums, and its benchmarks over time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { trends, type Benchmark } from "../../logic/fleet";
import type { TableData } from "../../logic/table";
import { Answered, Empty } from "../../shell/states";
import { setting } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { Choice, options } from "../parts/choice";
import { DataTable } from "../parts/data_table";
import { Sparkline } from "../parts/sparkline";

const METRICS = options(["wall", "wall time"], ["user", "user time"], ["system", "system time"], ["max_rss", "memory"]);
const metric = setting("fleet.metric", "wall");

interface ProfileRow {
  node: string;
  exec: string;
  event: string;
  count: number;
}

function profileTable(rows: readonly ProfileRow[]): TableData {
  return {
    columns: [
      { name: "node", measure: "none" },
      { name: "exec", measure: "none" },
      { name: "event", measure: "none" },
      { name: "count", measure: "count" },
    ],
    rows: rows.map(({ node, exec, event, count }) => [node, exec, event, count]),
  };
}

function Profile({ rows }: { rows: readonly ProfileRow[] }): JSX.Element {
  const table = useMemo(() => profileTable(rows), [rows]);
  return rows.length === 0 ? <Empty what="No profile was sent yet" /> : <DataTable title="Profile" table={table} />;
}

// Benchmarks tell seconds; the page counts in nanoseconds.
function Trends({ records }: { records: readonly Benchmark[] }): JSX.Element {
  const isTime = metric.value !== "max_rss";
  const lines = useMemo(() => trends(records, metric.value), [records, metric.value]);
  if (lines.length === 0) return <Empty what="No benchmark was sent yet" />;
  return (
    <div class="multiples">
      {lines.map(({ name, machine, medians }) => (
        <Sparkline
          key={`${name} ${machine}`}
          name={name}
          values={medians.map((value) => (value === null ? null : value * (isTime ? 1e9 : 1)))}
          measure={isTime ? "ns" : "bytes"}
        />
      ))}
    </div>
  );
}

export function Job({ job }: { job: string }): JSX.Element {
  const path = `/jobs/${encodeURIComponent(job)}`;
  const profile = useAnswer(
    () => path,
    (at, signal) => api.other<{ rows: ProfileRow[] }>(`${at}/profile`, {}, signal),
  );
  const benchmarks = useAnswer(
    () => path,
    (at, signal) => api.other<{ records: Benchmark[] }>(`${at}/benchmarks`, {}, signal),
  );
  return (
    <section aria-label={`Job ${escapeName(job)}`}>
      <h2>{escapeName(job)}</h2>
      <Answered of={profile} what="Asking for the profile">
        {({ rows }) => <Profile rows={rows} />}
      </Answered>
      <div class="tools" role="toolbar" aria-label="Benchmarks">
        <h3>Benchmarks over time, medians of each record</h3>
        <Choice name="fleet.metric" label="Metric" usual="wall" options={METRICS} />
      </div>
      <Answered of={benchmarks} what="Asking for benchmarks">
        {({ records }) => <Trends records={records} />}
      </Answered>
    </section>
  );
}
