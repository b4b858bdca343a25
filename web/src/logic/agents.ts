// SPDX-License-Identifier: MIT
// Who sends to a server: what it knows of all times, and what arrived while somebody looks.
import type { Arrived } from "./fleet";
import type { TableData } from "./table";

// As /agents answers. Times are seconds since 1970; `last` is missing where nothing came since the server began.
export interface AgentAnswer {
  now: number;
  agents: { client: string; jobs: { job: string; batches: number; last?: number }[] }[];
  left_out: number;
}

export interface AgentRow {
  client: string;
  job: string;
  batches: number;
  last: number | null;
}

// `agent profile` sends every five seconds (docs/fleet.md): one that has not for so long has ended, or cannot.
const SILENT_AFTER = 60;

// Seconds after the answer are added to it; those before it are in it.
export function agentRows(answer: AgentAnswer, seconds: readonly Arrived[]): AgentRow[] {
  const rows = new Map<string, AgentRow>();
  const rowOf = (client: string, job: string): AgentRow => {
    const row = rows.get(`${client}\n${job}`) ?? { client, job, batches: 0, last: null };
    rows.set(`${client}\n${job}`, row);
    return row;
  };
  for (const { client, jobs } of answer.agents) {
    for (const { job, batches, last } of jobs) Object.assign(rowOf(client, job), { batches, last: last ?? null });
  }
  const answered = new Set(rows.keys());
  for (const { time, clients } of seconds) {
    if (time < answer.now) continue;
    for (const { client, job, batches } of clients) {
      // Of the answer's own second: who is in it was counted, who is not came behind it.
      if (time === answer.now && answered.has(`${client}\n${job}`)) continue;
      const row = rowOf(client, job);
      row.batches += batches;
      row.last = Math.max(row.last ?? 0, time);
    }
  }
  return [...rows.values()].sort((a, b) => (b.last ?? 0) - (a.last ?? 0) || (a.client < b.client ? -1 : 1));
}

function lastSeen(last: number | null): string {
  return last === null ? "before the server began" : new Date(last * 1000).toISOString().slice(0, 19).replace("T", " ");
}

export function agentsTable(rows: readonly AgentRow[], now: number): TableData {
  return {
    columns: [
      { name: "agent", measure: "none" },
      { name: "job", measure: "none" },
      { name: "batches", measure: "count" },
      { name: "last seen (UTC)", measure: "none" },
      { name: "state", measure: "none" },
    ],
    rows: rows.map(({ client, job, batches, last }) => [
      client,
      job,
      batches,
      lastSeen(last),
      last !== null && now - last <= SILENT_AFTER ? "alive" : "silent",
    ]),
  };
}
