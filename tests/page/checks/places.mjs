// SPDX-License-Identifier: MIT
// Where rows, cells and advice lead: to the time that SQL finds, within what is selected.
import assert from "node:assert/strict";
import { imported, onGolden, sql } from "../golden_pages.mjs";
import { answered, openPage, settled } from "../kit.mjs";
import { realPage } from "../real.mjs";

// Process 10 reads in the first half, and writes a little at 100 ms; process 20 of the same name writes much from 700 ms on.
// Times are those of the run, one second.
function busyRun() {
  const call = (pid, ts, name, file) =>
    `event ${pid}/${pid} ${ts} +100000 posix ${name} category=${name} file=${file} fd=3 size=512 bytes=512 ret=512`;
  const times = (count, from, step) => Array.from({ length: count }, (_none, at) => from + at * step);
  return imported("places", [
    "fathom recording 1",
    'run host=alpha start=1700000000000000000 duration=1000000000 exit=0 command="work"',
    'process 10 name=work command="work" ppid=1 start=0 end=1000000000 exit=0',
    'process 20 name=work command="work" ppid=1 start=0 end=1000000000 exit=0',
    "thread 10/10 name=main start=0 end=1000000000",
    "thread 20/20 name=main start=0 end=1000000000",
    ...times(1100, 200_000_000, 300_000).map((ts) => call(10, ts, "read", "/data/in")),
    ...times(50, 100_000_000, 200_000).map((ts) => call(10, ts, "write", "/data/out")),
    ...times(1400, 700_000_000, 150_000).map((ts) => call(20, ts, "write", "/data/out")),
  ]);
}

async function onBusyRun(browser, hash, body) {
  const { path, address } = await realPage(busyRun);
  const page = await openPage(browser, `${address}${hash}`);
  try {
    await body(page, path);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

async function arrived(page) {
  await page.waitForFunction(() => location.hash.startsWith("#timeline"));
  await settled(page);
  const said = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]);
  return { from: Number(said.get("from")), to: Number(said.get("to")), pids: said.getAll("pid"), said };
}

function rowIn(page, table, text) {
  const figure = page.locator("figure").filter({ has: page.locator("figcaption", { hasText: table }) });
  return figure.first().locator("tr.leads").filter({ hasText: text }).first();
}

function timesOf(path, where) {
  return sql(path, `SELECT min(ts) AS first, max(ts + dur) AS last FROM events WHERE ${where}`)[0];
}

// Writes, where the rule speaks of writes though its name has "reads" in it.
export async function checkAdviceLeadsToWhatItSpeaksOf(browser) {
  await onBusyRun(browser, "#overview", async (page, path) => {
    await answered(page);
    const advice = page.locator("li.insight").filter({ hasText: "Mostly writes, by calls" });
    await advice.getByRole("button", { name: "Show in the timeline" }).click();
    const { from, to, pids } = await arrived(page);
    const writes = timesOf(path, "category = 'write' AND pid = 20");
    assert.ok(from <= writes.first && writes.first - from <= 10_000_000, `${from} is not where writes begin`);
    assert.ok(to >= writes.last && to - writes.last <= 10_000_000, `${to} is not where writes end`);
    assert.deepEqual(pids, [], "two processes write");
    await page.goBack();
    await answered(page);
    const reads = page.locator("li.insight").filter({ hasText: "Many small reads" });
    await reads.getByRole("button", { name: "Show in the timeline" }).click();
    const place = await arrived(page);
    assert.deepEqual(place.pids, ["10"], "one process reads");
    const read = timesOf(path, "category = 'read'");
    assert.ok(place.from <= read.first && place.to >= read.last);
  });
}

export async function checkAPlaceLiesInWhatIsSelected(browser) {
  await onBusyRun(browser, "#overview?pid=10", async (page, path) => {
    await answered(page);
    await rowIn(page, "Top functions", "write").click();
    const { from, to, pids } = await arrived(page);
    assert.deepEqual(pids, ["10"], "the process stays selected");
    const writes = timesOf(path, "category = 'write' AND pid = 10");
    assert.ok(from <= writes.first && to >= writes.last && to < 200_000_000, `${from} to ${to}`);
    await page.goBack();
    await answered(page);
    await rowIn(page, "Top files", "/data/out").click();
    const file = await arrived(page);
    assert.ok(file.from <= writes.first && file.to >= writes.last && file.to < 200_000_000, JSON.stringify(file));
  });
  await onBusyRun(browser, "#overview?from=700000000&to=750000000", async (page) => {
    await answered(page);
    await rowIn(page, "Top functions", "write").click();
    const { from, to } = await arrived(page);
    assert.ok(from >= 700_000_000 && to <= 750_000_000, `${from} to ${to}`);
  });
}

export async function checkAdviceOfAPartIsToldToBeMissing(browser) {
  await onBusyRun(browser, "#overview?pid=10", async (page) => {
    await answered(page);
    assert.equal(await page.locator("li.insight").count(), 0);
    await page.getByRole("button", { name: "Show it for everything" }).click();
    await page.locator("li.insight").first().waitFor();
    assert.doesNotMatch(page.url(), /pid=/);
  });
}

export async function checkRowsOfGpusLeadToTheirDevice(browser) {
  await onGolden(browser, ["gpu"], "#gpu", async (page, path, address) => {
    const again = async () => {
      await page.goto(`${address.split("?")[0]}#gpu`);
      await answered(page);
    };
    await answered(page);
    const holds = async (where) => {
      const { from, to } = await arrived(page);
      const { first, last } = timesOf(path, where);
      assert.ok(from <= first && to >= last, `${from} to ${to} does not hold ${first} to ${last}`);
      return to - from;
    };
    await rowIn(page, "Bytes moved and set", "HtoD").click();
    await holds("layer = 'gpu' AND category = 'copy'");
    await again();
    await rowIn(page, "Bytes moved and set", "set").click();
    assert.ok((await holds("device = 1")) < 20_000, "the other device works longer");
    await again();
    const idle = sql(path, "SELECT longest, longest_at FROM gpu_idle WHERE cause = 'Python' AND name = 'forward'")[0];
    await rowIn(page, "What the host did", "forward").click();
    const place = await arrived(page);
    assert.ok(place.from <= idle.longest_at && idle.longest_at - place.from <= idle.longest / 50);
    assert.ok(Math.abs(place.to - place.from - idle.longest) <= idle.longest / 20, JSON.stringify([place, idle]));
    await again();
    await page.locator("figure.split").first().getByRole("button", { name: "idle, queued" }).click();
    const queued = await arrived(page);
    assert.ok(queued.from >= 41_000 && queued.to <= 51_000, JSON.stringify(queued));
  });
}

export async function checkCellsLeadToTheirRow(browser) {
  const clickFirstRow = async (page) => {
    const canvas = page.locator(".heat-map canvas").first();
    await canvas.focus();
    await page.keyboard.press("ArrowDown"); // the first cell
    await page.keyboard.press("Enter");
    return arrived(page);
  };
  await onBusyRun(browser, "#io?io.rows=thread", async (page) => {
    await answered(page);
    const { said } = await clickFirstRow(page);
    assert.deepEqual([said.get("host"), said.get("tid")], ["alpha", said.get("pid")]);
  });
  await onBusyRun(browser, "#io?io.rows=file", async (page) => {
    await answered(page);
    const { said } = await clickFirstRow(page);
    assert.equal(said.get("where"), "file = '/data/out'");
  });
  await onGolden(browser, ["training"], "#io?io.rows=rank", async (page, path) => {
    await answered(page);
    const { pids } = await clickFirstRow(page);
    assert.equal(pids.length, 1);
    assert.equal(sql(path, `SELECT count(*) AS n FROM processes WHERE pid = ${pids[0]} AND rank IS NOT NULL`)[0].n, 1);
  });
}
