// SPDX-License-Identifier: MIT
// The jobs of a server: what they hold, who sends, and what arrives right now.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/client";
import { agentRows, agentsTable, type AgentAnswer } from "../../logic/agents";
import { kindSums, rowsPerSecond, type Arrivals } from "../../logic/fleet";
import type { TableData } from "../../logic/table";
import { counted, withThousands } from "../../logic/units";
import { Answered, Empty } from "../../shell/states";
import { recordings } from "../../state/page";
import { changeSetting, select, setting } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { DataTable } from "../parts/data_table";
import { Sparkline } from "../parts/sparkline";
import { Job } from "./job";
import { useLive, type Live } from "./live";

const chosen = setting("fleet.job", "");
const CLOCK_STEP = 5; // seconds

interface JobFacts {
  name: string;
  info: string;
  benchmarks: number;
}

function Jobs({ jobs }: { jobs: readonly JobFacts[] }): JSX.Element {
  const table = useMemo<TableData>(
    () => ({
      columns: [
        { name: "job", measure: "none" },
        { name: "info", measure: "none" },
        { name: "benchmarks", measure: "count" },
      ],
      rows: jobs.map(({ name, info, benchmarks }) => [name, info, benchmarks]),
    }),
    [jobs],
  );
  if (jobs.length === 0) return <Empty what="The server has no jobs yet" hint="fathom job create NAME makes one." />;
  return (
    <DataTable
      title="Jobs"
      table={table}
      onRow={(row) => changeSetting("fleet.job", jobs[row]!.name, "push")}
      rowTitle="Show the job"
    />
  );
}

function Recordings(): JSX.Element | null {
  const all = recordings.value;
  const table = useMemo<TableData>(
    () => ({
      columns: [
        { name: "recording", measure: "none" },
        { name: "command", measure: "none" },
        { name: "state", measure: "none" },
        { name: "wall", measure: "ns" },
        { name: "rows", measure: "count" },
      ],
      rows: all.map(({ name, command, state, wall_ns, events }) => [name, command.join(" "), state, wall_ns, events]),
    }),
    [all],
  );
  if (all.length === 0) return null;
  return (
    <DataTable
      title="Recordings"
      table={table}
      onRow={(row) => select({ view: "overview", recording: all[row]!.id })}
      rowTitle="Open the recording"
    />
  );
}

function sumsTable(name: string, sums: readonly Arrivals[]): TableData {
  return {
    columns: [
      { name, measure: "none" },
      { name: "job", measure: "none" },
      { name: "batches", measure: "count" },
      { name: "rows", measure: "count" },
      { name: "last", measure: "none" },
    ],
    rows: sums.map((sum) => [
      sum.name,
      sum.job,
      sum.batches,
      sum.rows,
      new Date(sum.last * 1000).toISOString().slice(11, 19),
    ]),
  };
}

// Asked once; what arrives is added. The clock moves on, so that who fell silent is seen to be.
function Agents({ live }: { live: Live }): JSX.Element {
  const asked = useAnswer(
    () => null,
    (_wish, signal) => api.other<AgentAnswer>("/agents", {}, signal),
  );
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setPassed((seconds) => seconds + CLOCK_STEP), 1000 * CLOCK_STEP);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => setPassed(0), [asked.value]);
  return (
    <Answered of={asked} what="Asking for agents">
      {(answer) => {
        const rows = agentRows(answer, live.seconds);
        if (rows.length === 0)
          return <Empty what="No agent has sent anything yet" hint="fathom agent sends profiles." />;
        const now = Math.max(answer.now + passed, live.seconds.at(-1)?.time ?? 0);
        return (
          <>
            <DataTable title="Agents" table={agentsTable(rows, now)} />
            {answer.left_out > 0 && <p class="note">{withThousands(answer.left_out)} more not shown</p>}
          </>
        );
      }}
    </Answered>
  );
}

function Arriving({ live }: { live: Live }): JSX.Element {
  const kinds = useMemo(() => sumsTable("kind", kindSums(live.seconds)), [live.seconds]);
  const now = live.seconds.at(-1)?.time ?? 0;
  return (
    <section aria-label="What arrives">
      <h2>What arrives, in the last five minutes</h2>
      <p class="note" role="status">
        {live.open ? "connected" : "not connected; trying again"}
        {live.missed > 0 && `; missed: ${counted(live.missed, "second")}`}
      </p>
      <Sparkline name="rows a second" values={rowsPerSecond(live.seconds, now, 300)} measure="count" />
      {live.seconds.length === 0 ? (
        <Empty what="Nothing has arrived since this page was opened" />
      ) : (
        <DataTable title="Jobs and kinds" table={kinds} />
      )}
    </section>
  );
}

export function Fleet(): JSX.Element {
  const live = useLive();
  const jobs = useAnswer(
    () => null,
    (_wish, signal) => api.other<{ jobs: JobFacts[] }>("/jobs", {}, signal),
  );
  // A job that nobody knew may have begun to send.
  const arrived = (live.value.seconds.at(-1)?.arrived ?? []).map(({ job }) => job).sort();
  useEffect(() => {
    if (live.value.seconds.length > 0) jobs.refresh();
  }, [arrived.join("\n")]);
  return (
    <div class="view fleet">
      <Answered of={jobs} what="Asking for jobs">
        {(answer) => <Jobs jobs={answer.jobs} />}
      </Answered>
      {chosen.value && <Job key={chosen.value} job={chosen.value} />}
      <Agents live={live.value} />
      <Arriving live={live.value} />
      <Recordings />
    </div>
  );
}
