// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { Asked } from "./asked";
import { queryOf, Refusal } from "./transport";

const soon = (ms = 5): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("a new question ends the one before it, whose answer comes too late", async () => {
  const asked = new Asked<string>();
  const ended: string[] = [];
  const slowly = (word: string, ms: number) => async (signal: AbortSignal) => {
    signal.addEventListener("abort", () => ended.push(word));
    await soon(ms);
    return word;
  };
  asked.ask(slowly("first", 30));
  asked.ask(slowly("second", 5));
  await soon(60);
  assert.equal(asked.value, "second");
  assert.deepEqual(ended, ["first"]);
});

test("the answer before stays until the next one is there, and through a refusal", async () => {
  const asked = new Asked<number>();
  asked.ask(() => Promise.resolve(1));
  await soon();
  asked.ask(() => Promise.reject(new Refusal("too much; select less", 413)));
  assert.equal(asked.state.value.kind, "loading");
  assert.equal(asked.value, 1);
  await soon();
  const state = asked.state.value;
  assert.ok(state.kind === "failed" && state.error.message === "too much; select less" && state.before === 1);
});

test("a lost server is asked again by itself", async () => {
  const asked = new Asked<string>();
  let times = 0;
  asked.ask(() => (++times === 1 ? Promise.reject(new Refusal("gone", 0)) : Promise.resolve("back")));
  await soon();
  assert.equal(asked.state.value.kind, "failed");
  await soon(700);
  assert.equal(asked.value, "back");
  asked.stop();
});

test("parameters that say nothing are left out of an address", () => {
  assert.equal(
    queryOf({ a: null, b: "", c: [], d: undefined, e: 0, f: "x y&z", g: [1, 2] }),
    "?e=0&f=x%20y%26z&g=1%2C2",
  );
  assert.equal(queryOf({}), "");
});
