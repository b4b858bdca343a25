// SPDX-License-Identifier: MIT
// Two sets of repeated runs side by side: what is said of them, with which certainty, is what `fathom diff` says.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { imported, said, tableIn, tableOf } from "../golden_pages.mjs";
import { answered, asked, openPage, savedTable } from "../kit.mjs";
import { realPage } from "../real.mjs";

// Runs that begin after one another are repetitions. `slower` makes a function slower; others only scatter.
function runs(name, slower) {
  const paths = [0, 3, 1, 2].map((scatter, at) => {
    const load = 400_000_000 + 1_000_000 * scatter + slower;
    const wall = load + 500_000_000;
    return imported(`${name}/run${at}`, [
      "fathom recording 1",
      `run host=a start=${at + 1}0000000000 duration=${wall} exit=0 command="work"`,
      `process 1 name=work start=0 end=${wall} exit=0`,
      `thread 1/1 start=0 end=${wall}`,
      `event 1/1 1000 +${load} app load category=io`,
      `event 1/1 2000 +${load - 100_000_000} posix read category=read ret=4096 bytes=4096 size=4096 file=/data/in`,
      `event 1/1 ${load + 10_000} +${300_000_000 + 2_000_000 * ((scatter + 2) % 4)} app compute category=math`,
    ]);
  });
  return dirname(paths[0]);
}

export async function checkRepeatedRunsAreComparedAsSets(browser) {
  const sides = () => [runs("before", 0), runs("after", 200_000_000)];
  const { path, address } = await realPage(sides);
  const [before, after] = path;
  const page = await openPage(browser, address, { size: { width: 1400, height: 1000 } });
  try {
    await page.waitForSelector("header nav a");
    const { recordings } = await asked(page, "/page");
    const id = (name) => recordings.find((each) => each.name === name || each.name === `${name}/`).id;
    const hash = `compare?recording=${encodeURIComponent(id("after"))}&compare.before=${encodeURIComponent(id("before"))}`;
    await page.evaluate((text) => (location.hash = text), hash);
    await answered(page);
    await page.locator("figcaption", { hasText: "By function" }).waitFor();
    const words = ["diff", before, after, "--top", "1000"];
    const text = said(words, [0, 1]);
    const spoken = await page.locator(".compare .words li").allInnerTexts();
    assert.match(spoken[0], /medians of 4 and 4 runs; .* with 95 % confidence, p = 0\.0286: significant/);
    assert.deepEqual(spoken, text.split("\n").slice(0, spoken.length));
    for (const [title, printed] of [
      ["Run time", "Run: time"],
      ["By layer", "By layer"],
      ["By function", "By function"],
      ["By file", "By file"],
    ])
      assert.deepEqual(withoutNotes(await tableOf(page, title)), withoutNotes(tableIn(text, printed)), title);
    const json = JSON.parse(said([...words, "--format", "json"], [0, 1]));
    const rows = await savedTable(page, page.locator("figure.data-table").filter({ hasText: "By function" }).first());
    assert.deepEqual(
      rows.map((row) => numbersOf(row)),
      json.by_function.map((row) => numbersOf(row)),
    );
    const [{ low, high }] = json.by_function;
    assert.ok(low > 1.9e8 && high < 2.1e8, `${low} to ${high}`);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

// The command prints no column that is empty.
function withoutNotes(rows) {
  const at = rows[0].indexOf("note");
  return at < 0 ? rows : rows.map((row) => row.filter((_cell, column) => column !== at));
}

const numbersOf = (row) =>
  ["name", "before", "after", "change", "percent", "low", "high", "p", "explains"].map((column) => `${row[column]}`);
