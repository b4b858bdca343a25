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

test("what changes while a question is under way is asked once more after it", async () => {
  const asked = new Asked<number>();
  const answers: ((value: number) => void)[] = [];
  let aborted = 0;
  asked.ask((signal) => {
    signal.addEventListener("abort", () => (aborted += 1));
    return new Promise((answer) => answers.push(answer));
  });
  for (let change = 0; change < 5; ++change) asked.refresh();
  assert.deepEqual([answers.length, aborted], [1, 0]);
  answers[0]!(1);
  await soon();
  assert.deepEqual([asked.value, answers.length], [1, 2]);
  answers[1]!(2);
  await soon();
  assert.deepEqual([asked.value, asked.state.value.kind, answers.length, aborted], [2, "there", 2, 0]);
  asked.refresh();
  assert.equal(answers.length, 3);
  asked.stop();
});

test("another question ends one that was to be asked once more", async () => {
  const asked = new Asked<string>();
  const said: string[] = [];
  const slowly = (word: string) => async () => {
    said.push(word);
    await soon(10);
    return word;
  };
  asked.ask(slowly("first"));
  asked.refresh();
  asked.ask(slowly("second"));
  await soon(50);
  assert.deepEqual([asked.value, said], ["second", ["first", "second"]]);
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

test("an answer to another question is told from one that is asked again, or forgotten", async () => {
  const asked = new Asked<number>();
  const other = (): boolean => {
    const standing = asked.state.value;
    return "other" in standing && standing.other;
  };
  asked.ask(() => Promise.resolve(1));
  await soon();
  asked.refresh();
  assert.deepEqual([asked.value, asked.current, other()], [1, 1, false]);
  await soon();
  asked.ask(() => Promise.reject(new Refusal("no", 400)));
  assert.deepEqual([asked.value, asked.current, other()], [1, null, true]);
  await soon();
  assert.deepEqual([asked.state.value.kind, asked.current, other()], ["failed", null, true]);
  asked.refresh();
  assert.ok(other(), "it still is one to the question before");
  asked.ask(() => Promise.resolve(2), true);
  assert.deepEqual([asked.state.value.kind, asked.value, other()], ["loading", null, false]);
  await soon();
  assert.deepEqual([asked.value, asked.current], [2, 2]);
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
