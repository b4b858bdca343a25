// SPDX-License-Identifier: MIT
// Where each thread's time went: a bar for each of the threads that lived longest, and one for the others.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { rowsOf, type Report } from "../../logic/report";
import { longestThreads, type ThreadRow } from "../../logic/thread_rows";
import { counted, humanNs, humanPercent } from "../../logic/units";
import { Answered } from "../../shell/states";
import { select } from "../../state/selection";
import { shade } from "../../theme/theme";
import { ReportTable } from "../parts/report_tables";
import { useReport } from "../parts/report_answer";
import { colouredStates } from "./time_split";

const SHOWN = 12;

function nameOf({ name, rank, tid }: ThreadRow): string {
  const number = tid === null ? "" : ` (${tid})`;
  return `${rank === null ? "" : `rank ${rank}: `}${name || "thread"}${number}`;
}

function choose(host: unknown, pid: unknown, tid: unknown): void {
  if (typeof pid !== "number" || typeof tid !== "number") return;
  select({ pids: [pid], tids: [tid], ...(typeof host === "string" ? { hosts: [host] } : {}) });
}

// As long as its life beside the longest one. Nothing is inside where nobody sampled the thread.
function Bar({ thread, longest }: { thread: ThreadRow; longest: number }): JSX.Element {
  const { states, life } = thread;
  const shares = colouredStates(
    states.map(({ name, time }) => ({ name, time, share: life > 0 ? (100 * time) / life : 0, colour: "" })),
    shade.value,
  );
  const words = shares.map(({ name, time, share }) => `${name} ${humanNs(time)} (${humanPercent(share)})`).join(", ");
  const label = escapeName(words || "not sampled");
  const width = longest > 0 ? Math.min(100, (100 * life) / longest) : 100;
  return (
    <div class="bar" role="img" aria-label={label} title={label} style={{ width: `${width}%` }}>
      {shares.map(({ name, share, colour }) => (
        <span key={name} style={{ width: `${share}%`, background: colour }} />
      ))}
    </div>
  );
}

function Row({ thread, longest }: { thread: ThreadRow; longest: number }): JSX.Element {
  const { host, pid, tid, life } = thread;
  return (
    <li>
      {tid === null ? (
        <span>{nameOf(thread)}</span>
      ) : (
        <button type="button" title="Select this thread" onClick={() => choose(host, pid, tid)}>
          {escapeName(nameOf(thread))}
        </button>
      )}
      <Bar thread={thread} longest={longest} />
      <span class="number">{humanNs(life)}</span>
    </li>
  );
}

function Rows({ report }: { report: Report }): JSX.Element | null {
  const threads = useMemo(() => longestThreads(report, SHOWN), [report]);
  const longest = Math.max(...threads.filter(({ tid }) => tid !== null).map(({ life }) => life), 0);
  const all = rowsOf(report, "threads").length;
  if (all < 2) return null; // the bar of all threads is that of the one
  return (
    <section aria-label="Where each thread's time went">
      <h2>By thread</h2>
      <ol class="threads split">
        {threads.map((thread, at) => (
          <Row key={at} thread={thread} longest={longest} />
        ))}
      </ol>
      {threads.every(({ states }) => states.length === 0) && (
        <p class="note">fathom run --layers +cpu tells when threads ran and when they waited.</p>
      )}
      <details>
        <summary>All {counted(all, "thread")}</summary>
        <ReportTable
          report={report}
          of="threads"
          visible={12}
          onRow={(row) => choose(row["host"], row["pid"], row["tid"])}
          rowTitle="Select this thread"
        />
      </details>
    </section>
  );
}

export function ThreadSplit(): JSX.Element {
  // Every thread: those that are not shown are added up.
  const asked = useReport("threads", () => ({ top: 0 }));
  return (
    <Answered of={asked} what="Asking for threads">
      {(report) => <Rows report={report} />}
    </Answered>
  );
}
