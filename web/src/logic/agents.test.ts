// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { agentRows, agentsTable, type AgentAnswer } from "./agents";
import type { Arrived } from "./fleet";

function second(time: number, client: string, job: string, batches: number): Arrived {
  return { time, arrived: [], clients: [{ client, job, batches, rows: 1 }], left_out: 0, clients_left_out: 0 };
}

const ANSWER: AgentAnswer = {
  now: 1000,
  agents: [
    { client: "node1", jobs: [{ job: "a", batches: 5, last: 990 }] },
    { client: "node2", jobs: [{ job: "a", batches: 3 }] },
  ],
  left_out: 0,
};

test("what arrived after the answer is added to it, what arrived before it is in it", () => {
  const same = [second(1000, "node1", "a", 2), second(1000, "node4", "a", 2)];
  assert.deepEqual(
    agentRows(ANSWER, same).map(({ client, batches }) => [client, batches]),
    [
      ["node4", 2],
      ["node1", 5],
      ["node2", 3],
    ],
    "of the answer's own second",
  );
  const seconds = [second(990, "node1", "a", 2), second(1001, "node1", "a", 1), second(1002, "node3", "b", 1)];
  assert.deepEqual(agentRows(ANSWER, seconds), [
    { client: "node3", job: "b", batches: 1, last: 1002 },
    { client: "node1", job: "a", batches: 6, last: 1001 },
    { client: "node2", job: "a", batches: 3, last: null },
  ]);
});

test("an agent that has not sent for a minute is silent", () => {
  const states = (now: number) => agentsTable(agentRows(ANSWER, []), now).rows.map((row) => row.slice(3));
  assert.deepEqual(states(1050), [
    ["1970-01-01 00:16:30", "alive"],
    ["before the server began", "silent"],
  ]);
  assert.equal(states(1051)[0]![1], "silent");
});
