// SPDX-License-Identifier: MIT
// One job: its sums, and its benchmarks over time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { api } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { alertsIn, alertsOf, trends, type Alert, type Benchmark } from "../../logic/fleet";
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
function Trends({ records, alerts }: { records: readonly Benchmark[]; alerts: readonly Alert[] }): JSX.Element {
  const isTime = metric.value !== "max_rss";
  const scale = isTime ? 1e9 : 1;
  const lines = useMemo(() => trends(records, metric.value), [records, metric.value]);
  if (lines.length === 0)
    return (
      <Empty what="No benchmark was sent yet" hint="fathom agent bench --job NAME -- PROGRAM runs one and sends it." />
    );
  return (
    <div class="multiples">
      {lines.map((line) => (
        <Sparkline
          key={`${line.name} ${line.machine}`}
          name={line.name}
          values={line.medians.map((value) => (value === null ? null : value * scale))}
          measure={isTime ? "ns" : "bytes"}
          alerts={alertsOf(line, metric.value, alerts).map(({ at, before, after }) => ({
            at,
            before: before * scale,
            after: after * scale,
          }))}
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
  // A server that knows no trends says 404: then there are no marks.
  const alerts = useAnswer(
    () => path,
    (at, signal) => api.other<unknown>(`${at}/trend`, {}, signal).then(alertsIn),
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
        {({ records }) => <Trends records={records} alerts={alerts.value ?? []} />}
      </Answered>
    </section>
  );
}
