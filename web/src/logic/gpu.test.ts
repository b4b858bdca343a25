// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { copiesOf, longestIdle, runsOfKernel, workOf } from "./gpu";

test("rows of GPUs lead to work of their own device", () => {
  assert.equal(workOf({ host: "a", device: 1 }).where, "device = 1 AND layer = 'gpu' AND host = 'a'");
  assert.equal(workOf({ host: null, device: null }).where, "device IS NULL AND layer = 'gpu' AND host IS NULL");
  assert.match(runsOfKernel({ kernel: "k'", device: 0, runs: 2 }).where!, /layer = 'gpu' AND name = 'k'''$/);
  assert.match(
    runsOfKernel({ kernel: "k", device: 0, runs: null }).where!,
    /layer = 'cuda' AND args\['kernel'\] = 'k'$/,
  );
});

test("each direction of copies has a place of its own", () => {
  const places = ["HtoD", "DtoH", "set", "peer", "?"].flatMap((direction) =>
    [1, null].map((runs) => copiesOf({ direction, device: 0, runs }).where),
  );
  assert.equal(new Set(places).size, places.length);
  assert.match(places[0]!, /^device = 0 AND layer = 'gpu' .* contains\(name, 'HtoD'\)$/);
  assert.match(places[1]!, /layer = 'cuda' .* coalesce\(args\['direction'\], '\?'\) = 'HtoD'$/);
});

test("a cause of idle time leads to its longest stretch", () => {
  assert.deepEqual(longestIdle({ longest: 40, longest_at: 100 }), { from: 100, to: 140 });
  assert.equal(longestIdle({ longest: 40 }), undefined);
  assert.equal(longestIdle(undefined), undefined);
});
