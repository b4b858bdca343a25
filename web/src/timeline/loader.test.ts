// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { useTransport } from "../api/client";
import { Refusal, type Params } from "../api/transport";
import { Loader, wantedOf, type Sight } from "./loader";
import { levelOf, tilesOver, TileStore } from "./tiles";

const sight: Sight = {
  recording: "r",
  camera: { from: 4e8, to: 5e8 },
  width: 1000,
  wall: 1e9,
  tracks: [1, 2].map((id) => ({ id, lines: 2 })),
};

test("what is on screen is asked first, then its neighbours", () => {
  const level = levelOf(sight.camera, sight.width);
  const wanted = wantedOf(sight, () => false);
  const onScreen = tilesOver(sight.camera, level);
  assert.deepEqual(
    wanted.slice(0, onScreen.length).map((each) => each.key),
    onScreen,
  );
  assert.ok(wanted.length > onScreen.length);
  assert.ok(wanted.every((each) => each.key.level === level || each.key.level === level + 1));
});

test("nothing is asked twice, beside the recording, or for too many tracks at once", () => {
  assert.deepEqual(
    wantedOf({ ...sight, tracks: [] }, () => false),
    [],
  );
  assert.deepEqual(
    wantedOf(sight, () => true),
    [],
  );
  const tracks = Array.from({ length: 200 }, (_none, id) => ({ id, lines: id === 7 ? 500 : 3 }));
  assert.ok(wantedOf({ ...sight, tracks }, () => false).every((each) => each.tracks.length <= 16));
  const counters = wantedOf({ ...sight, tracks: [{ id: 1, lines: 0 }] }, () => false);
  assert.ok(counters.length > 0 && counters.every((each) => each.tracks.length === 1));
  const atEnd = wantedOf({ ...sight, camera: { from: 9e8, to: 1e9 } }, () => false);
  assert.ok(atEnd.every((each) => each.key.index * 1024 * 2 ** each.key.level < 1e9));
});

function answerOf(params: Params): unknown {
  return { from: params["from"], to: params["to"], names: [], tracks: [] };
}

const others = {
  post: () => Promise.reject(new Error("not asked")),
  statement: () => Promise.reject(new Error("not asked")),
};

const soon = (): Promise<void> => new Promise((done) => setTimeout(done, 5));

test("everything that was wanted arrives, two questions at a time", async () => {
  const store = new TileStore();
  let running = 0;
  let most = 0;
  useTransport({
    get: async (_path, params) => {
      most = Math.max(most, ++running);
      await soon();
      running -= 1;
      return answerOf(params);
    },
    ...others,
  });
  const loader = new Loader(
    () => store,
    () => {},
    (error) => assert.equal(error, null),
  );
  loader.look(sight);
  while (loader.busy) await soon();
  assert.deepEqual(
    wantedOf(sight, (track, key) => store.has(track, key)),
    [],
  );
  assert.equal(most, 2);
});

test("a refusal is told, and the same is not asked at once again", async () => {
  let asked = 0;
  const told: string[] = [];
  useTransport({
    get: () => {
      asked += 1;
      return Promise.reject(new Refusal("too much; select less", 413));
    },
    ...others,
  });
  const loader = new Loader(
    () => new TileStore(),
    () => {},
    (error) => told.push(error?.message ?? ""),
  );
  loader.look(sight);
  await soon();
  await soon();
  loader.stop();
  assert.equal(asked, 2);
  assert.deepEqual(told, ["too much; select less", "too much; select less"]);
});

test("what a server says while it makes its index is asked again", async () => {
  const store = new TileStore();
  let asked = 0;
  useTransport({
    get: (_path, params) => {
      asked += 1;
      return Promise.resolve({ ...(answerOf(params) as object), building: 0.5 });
    },
    ...others,
  });
  const loader = new Loader(
    () => store,
    () => {},
    () => {},
  );
  loader.look(sight);
  while (wantedOf(sight, (track, key) => store.has(track, key)).length > 0) await soon();
  assert.ok(loader.busy, "it is not done before all detail is there");
  const before = asked;
  for (let step = 0; step < 100 && asked === before; ++step) await new Promise((done) => setTimeout(done, 50));
  loader.stop();
  assert.ok(asked > before);
});
