// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsIn } from "./stream";

test("whole events are taken, the rest waits for more", () => {
  const { events, rest } = eventsIn(
    'data: {"a":1}\n\nevent: arrived\nid: 7\ndata: x\ndata: y\n\n: nothing\n\ndata: ha',
  );
  assert.deepEqual(events, [
    { event: "message", data: '{"a":1}' },
    { event: "arrived", data: "x\ny" },
  ]);
  assert.equal(rest, "data: ha");
  assert.deepEqual(eventsIn(`${rest}lf\n\n`), { events: [{ event: "message", data: "half" }], rest: "" });
  assert.deepEqual(eventsIn(""), { events: [], rest: "" });
});
