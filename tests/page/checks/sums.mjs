// SPDX-License-Identifier: MIT
// What a view adds up has every row, however many a report prints by itself.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { imported, said, sql } from "../golden_pages.mjs";
import { answered, openPage } from "../kit.mjs";
import { realPage, skipWithoutPage } from "../real.mjs";

const many = [...Array(45).keys()]; // reports print 30 rows

// A thread that was sampled in as many functions.
function manyFunctions() {
  const samples = many.map((at) => {
    return `sample 1/1 ${at * 1000 + 1000} cpu-clock weight=${1000 - at} stack=main!/opt/a;f${at}!/opt/a`;
  });
  return imported("many_functions", [
    "fathom recording 1",
    'run host=a start=0 duration=100000 exit=0 command="many"',
    "process 1 name=many start=0 end=100000 exit=0 rung=perf",
    "thread 1/1 start=0 end=100000 ready=0",
    ...samples,
  ]);
}

// A GPU that waited for as many regions of the program.
function manyCauses() {
  const launch = "cuda cuLaunchKernel category=launch ret=0 device=0 stream=7";
  const events = many.flatMap((at) => {
    const begin = (at + 1) * 10_000;
    return [
      `event 1/1 ${begin + 2000} +${5000 - at} app region${at} category=train`,
      `event 1/1 ${begin + 9000} +500 ${launch} correlation=${at + 1} args.kernel=add`,
      `event 1 ${begin + 10_000} +1000 gpu add category=kernel device=0 stream=7 correlation=${at + 1} args.clock=cupti`,
    ];
  });
  return imported("many_causes", [
    "fathom recording 1",
    'run host=a start=0 duration=1000000 exit=0 command="many"',
    "process 1 name=many start=0 end=1000000 exit=0",
    "thread 1/1 start=0 end=1000000",
    ...events,
  ]);
}

// The numbers of a bar in ns, by name, as its CSV has them.
async function bar(page, title) {
  const figure = page.locator("figure.split").filter({ hasText: title });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    figure.getByRole("button", { name: "CSV", exact: true }).click(),
  ]);
  const [, ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\n");
  // Names may hold a comma; what follows them are numbers.
  return Object.fromEntries(
    lines.map((line) => /^(.*),([^,]*),[^,]*$/.exec(line)).map(([, name, time]) => [name, Number(time)]),
  );
}

async function hasAllTime(page, path) {
  await answered(page);
  const wanted = sql(path, "SELECT state, CAST(sum(time) AS BIGINT) AS time FROM time GROUP BY ALL ORDER BY ALL");
  const seen = await bar(page, "Threads' time by what they did");
  assert.deepEqual(seen, Object.fromEntries(wanted.map(({ state, time }) => [state, time])));
}

async function hasAllIdleTime(page, path) {
  await answered(page);
  const [{ busy, idle }] = sql(
    path,
    "SELECT CAST(sum(time) FILTER (cause = 'busy') AS BIGINT) AS busy, CAST(sum(time) FILTER (cause <> 'busy') AS BIGINT) AS idle FROM gpu_idle",
  );
  const { busy: seen, ...causes } = await bar(page, "GPU 0 of a");
  assert.ok(sql(path, "FROM gpu_idle WHERE cause <> 'busy'").length > 30);
  assert.equal(seen, busy);
  assert.equal(
    Object.values(causes).reduce((sum, time) => sum + time, 0),
    idle,
  );
}

const bars = [
  [manyFunctions, "#overview", hasAllTime],
  [manyCauses, "#gpu", hasAllIdleTime],
];

export async function checkBarsHaveAllRows(browser) {
  for (const [make, hash, check] of bars) {
    const { path, address } = await realPage(make);
    const page = await openPage(browser, `${address}${hash}`);
    try {
      await check(page, path);
    } finally {
      await page.context().close();
    }
  }
}

export async function checkBarsOfTheFileHaveAllRows(browser) {
  skipWithoutPage();
  for (const [make, hash, check] of bars) {
    const path = make();
    said(["export", path, "--format", "html", "-o", `${path}.html`]);
    const page = await openPage(browser, `${pathToFileURL(`${path}.html`).href}${hash}`);
    try {
      await check(page, path);
    } finally {
      await page.context().close();
    }
  }
}
