// SPDX-License-Identifier: MIT
// Two sets of repeated runs side by side: what is said of them, with which certainty, is what `fathom diff` says.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { imported, said, sql, tableIn, tableOf } from "../golden_pages.mjs";
import { answered, asked, goTo, openPage, savedTable } from "../kit.mjs";
import { realPage } from "../real.mjs";

// Runs that begin after one another are repetitions. `slower` makes a function slower; others only scatter.
function runs(name, slower) {
  return [0, 3, 1, 2].map((scatter, at) => {
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
}

const before = () => runs("before", 0);
const after = () => runs("after", 200_000_000);

const confident = /medians of 4 and 4 runs; .* with 95 % confidence, p = 0\.0286: significant/;

const inWords = (page) => page.locator(".compare .words li").allInnerTexts();

const titles = [
  ["Run time", "Run: time"],
  ["By layer", "By layer"],
  ["By function", "By function"],
  ["By file", "By file"],
];

// The words and tables of the page are those of the command, which prints `text`.
async function saysAsMuch(page, text) {
  await page.locator("figcaption", { hasText: "By function" }).waitFor();
  const spoken = await inWords(page);
  assert.deepEqual(spoken, text.split("\n").slice(0, spoken.length));
  for (const [title, printed] of titles)
    assert.deepEqual(withoutNotes(await tableOf(page, title)), withoutNotes(tableIn(text, printed)), title);
}

const known = new Map();

// By run, asked once.
function timesOf(path) {
  const question = "SELECT name, sum(dur)::DOUBLE AS time FROM events WHERE name IN ('load', 'compute') GROUP BY name";
  if (!known.has(path)) known.set(path, sql(path, question));
  return known.get(path);
}

// What a function takes in a run of each side, on average.
async function flameIsOfOneRun(page, sides) {
  const rows = await savedTable(page, page.locator("figure.drawn").filter({ hasText: "Differential flame graph" }));
  for (const [side, paths] of Object.entries(sides)) {
    const all = paths.flatMap(timesOf);
    for (const name of ["load", "compute"]) {
      const times = all.filter((each) => each.name === name).map(({ time }) => time);
      const mean = times.reduce((sum, time) => sum + time, 0) / paths.length;
      assert.equal(times.length, paths.length);
      assert.ok(Math.abs(Number(rows.find((row) => row.name === name)[side]) - mean) < 1, `${name} ${side}: ${mean}`);
    }
  }
}

export async function checkRepeatedRunsAreComparedAsSets(browser) {
  const sides = () => [before, after].map((side) => dirname(side()[0]));
  const { path, address } = await realPage(sides);
  const page = await openPage(browser, address, { size: { width: 1400, height: 1000 } });
  try {
    await page.waitForSelector("header nav a");
    const { recordings } = await asked(page, "/page");
    const id = (name) => recordings.find((each) => each.name === name || each.name === `${name}/`).id;
    const hash = `compare?recording=${encodeURIComponent(id("after"))}&compare.before=${encodeURIComponent(id("before"))}`;
    await page.evaluate((text) => (location.hash = text), hash);
    await answered(page);
    const words = ["diff", ...path, "--top", "1000"];
    await saysAsMuch(page, said(words, [0, 1]));
    assert.match((await inWords(page))[0], confident);
    await flameIsOfOneRun(page, { before: before(), after: after() });
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

// Runs that are named one by one are chosen for each side; one of a side is left out again.
export async function checkRunsAreChosenForEachSide(browser) {
  const [old, now] = [before(), after()];
  const { address } = await realPage(() => [...old, ...now]);
  const page = await openPage(browser, address, { size: { width: 1400, height: 1000 } });
  const text = (a, b) => said(["diff", "--before", a.join(), "--after", b.join(), "--top", "1000"], [0, 1]);
  const box = (side, at) => page.locator(".more-runs").first().getByLabel(`${side}/run${at}.fathom`, { exact: true });
  try {
    await page.waitForSelector("header nav a");
    const ids = (await asked(page, "/page")).recordings.map(({ id }) => id);
    const more = { "compare.more_before": ids.slice(1, 3), "compare.more_after": ids.slice(5) };
    const sides = new URLSearchParams({ recording: ids[4], "compare.before": ids[0] });
    for (const [name, side] of Object.entries(more)) sides.set(name, side.join("\n"));
    await goTo(page, `#compare?${sides}`);
    const runs = page.locator(".more-runs summary");
    assert.deepEqual(await runs.allInnerTexts(), ["3 runs", "4 runs"]);
    await runs.first().click();
    assert.equal(await box("before", 0).count(), 0, "the one that is chosen above stays");
    await box("before", 3).check();
    await page.locator(".compare .words", { hasText: "medians of 4 and 4 runs" }).waitFor();
    await answered(page);
    await saysAsMuch(page, text(old, now));
    assert.match((await inWords(page))[0], confident);
    await flameIsOfOneRun(page, { before: old, after: now });
    await box("before", 3).uncheck();
    await page.locator(".compare .words", { hasText: "fewer than 4 runs" }).waitFor();
    await answered(page);
    const few = old.slice(0, 3);
    await saysAsMuch(page, text(few, now));
    await flameIsOfOneRun(page, { before: few, after: now });
    const words = (await inWords(page))[0];
    await page.getByRole("button", { name: "Swap" }).click();
    await page.waitForFunction((text) => !document.querySelector(".compare .words")?.textContent.includes(text), words);
    await answered(page);
    await saysAsMuch(page, text(now, few));
    await flameIsOfOneRun(page, { before: now, after: few });
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

const fields = (page) => page.locator(".compare [aria-label=Recordings] select");

// The recordings in the fields, by their place in the list.
function chosen(page, ids) {
  return fields(page).evaluateAll((all, known) => all.map((each) => known.indexOf(each.value)), ids);
}

// `fathom view BEFORE AFTER` compares as `fathom diff BEFORE AFTER` does, whatever else is chosen then.
export async function checkTheFirstRecordingIsBefore(browser) {
  const three = () => [before()[0], after()[0], after()[1]];
  const { path, address } = await realPage(three);
  const page = await openPage(browser, `${address}#compare`);
  const isDiff = async (a, b) => {
    await page.waitForFunction(
      ([title, text]) => [...document.querySelectorAll(title)].map((each) => each.ariaLabel).join() === text,
      [".compare .run-card", [a, b].map((at) => `The run ${names[at]}`).join()],
    );
    await answered(page);
    assert.deepEqual(await chosen(page, ids), [a, b]);
    await saysAsMuch(page, said(["diff", path[a], path[b], "--top", "1000"], [0, 1]));
  };
  let [names, ids] = [];
  try {
    await page.waitForSelector("header nav a");
    const { recordings } = await asked(page, "/page");
    [names, ids] = [recordings.map(({ name }) => name), recordings.map(({ id }) => id)];
    await isDiff(0, 1);
    await goTo(page, `#compare?recording=${encodeURIComponent(ids[2])}`);
    await isDiff(0, 2);
    await goTo(page, "#compare");
    await fields(page).nth(0).selectOption(ids[2]);
    await isDiff(2, 1);
    await fields(page).nth(1).selectOption(ids[0]);
    await isDiff(2, 0);
    await fields(page).nth(1).selectOption(ids[2]);
    await isDiff(0, 2);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

// A link may name a recording that is gone.
export async function checkARecordingThatIsNotHereIsTold(browser) {
  const { path, address } = await realPage(() => [before()[0], after()[0], after()[1]]);
  const page = await openPage(browser, `${address}#compare?compare.before=nope&compare.more_after=%3Cb%3Egone`);
  const note = page.locator(".compare > p.note");
  try {
    await page.waitForSelector("header nav a");
    const ids = (await asked(page, "/page")).recordings.map(({ id }) => id);
    await answered(page);
    assert.match(await note.innerText(), /not here: nope, <b>gone\. The fields say what is compared/);
    assert.deepEqual(await chosen(page, ids), [0, 1]);
    await saysAsMuch(page, said(["diff", path[0], path[1], "--top", "1000"], [0, 1]));
    await goTo(page, `#compare?compare.before=${encodeURIComponent(ids[2])}`);
    assert.equal(await note.count(), 0);
    assert.deepEqual(await chosen(page, ids), [2, 0]);
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
