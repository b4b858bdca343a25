// SPDX-License-Identifier: MIT
// Resources of many processes: every counter is there, whatever the selection, and its values are what SQL says.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { counterLines, imported, sql } from "../golden_pages.mjs";
import { answered, openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const names = ["cpu_user", "fds", "pss", "rchar", "read_bytes", "rss", "threads", "voluntary_switches", "wchar"];
const [processes, seconds] = [30, 450];

// More values than the server answers in rows: those of the last names were lost when each was a row.
function manyCounters() {
  return imported("many_counters", [
    "fathom recording 1",
    `run host=alpha start=0 duration=${seconds * 1e9} exit=0 command="many"`,
    ...counterLines(names, processes, seconds),
  ]);
}

async function onCounters(browser, hash, body) {
  const { path, address } = await realPage(manyCounters);
  const page = await openPage(browser, `${address}#resources${hash}`);
  try {
    await answered(page);
    await body(page, path);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

const titles = async (page) =>
  (await page.locator(".plot figcaption").allInnerTexts()).map((text) => text.split(/\s/)[0]);

// A plot's CSV: its heading, and rows of numbers.
async function linesOf(page, name) {
  const plot = page.locator("figure.plot").filter({ has: page.getByRole("img", { name: `${name} over time` }) });
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    plot.getByRole("button", { name: "CSV", exact: true }).click(),
  ]);
  const [head, ...rows] = (await readFile(await saved.path(), "utf8")).trim().split("\n");
  return { head: head.split(","), rows: rows.map((row) => row.split(",").map(Number)) };
}

export async function checkManyCountersAreAllThere(browser) {
  await onCounters(browser, "", async (page, path) => {
    const [{ n }] = sql(path, "SELECT count(*) AS n FROM counters");
    assert.ok(n > 100_000, `${n} values are more than an answer has rows`);
    assert.deepEqual(await titles(page), [...names, "memory_used"].sort());
    const { head, rows } = await linesOf(page, "rss");
    assert.equal(head.length, 1 + processes);
    assert.ok(rows.length > 100 && rows.length < 200, `${rows.length} moments`);
    const last = sql(
      path,
      "SELECT pid, arg_max(value, ts) AS v FROM counters WHERE name = 'rss' GROUP BY pid ORDER BY pid",
    );
    assert.deepEqual(
      last.map(({ pid, v }) => [`pid ${pid}`, v]),
      head.slice(1).map((label, at) => [label, rows.at(-1)[at + 1]]),
    );
    assert.match(await page.locator(".plots").innerText(), /There are many lines: each has one value in/);
  });
}

export async function checkResourcesFollowTheSelection(browser) {
  await onCounters(browser, "?pid=105&where=dur+%3E+5", async (page, path) => {
    const { head, rows } = await linesOf(page, "rss");
    const wanted = sql(path, "SELECT ts, value FROM counters WHERE name = 'rss' AND pid = 105 ORDER BY ts");
    assert.deepEqual(head, ["ts", "pid 105"]);
    assert.deepEqual(
      rows.map(([, value]) => value),
      wanted.map(({ value }) => value),
    );
    assert.deepEqual((await linesOf(page, "memory_used")).head, ["ts", "machine"]);
    const words = await page.locator(".plots").innerText();
    assert.match(words, /counters do not follow it[\s\S]*the machine belong to no process/);
    assert.doesNotMatch(words, /many lines/);
    await page.evaluate(() => (location.hash = "#resources?layer=app"));
    await page.waitForFunction(() => document.querySelectorAll(".plot").length === 1);
    assert.deepEqual(await titles(page), ["cpu_user"]);
    await page.evaluate(() => (location.hash = "#resources?host=beta"));
    await page.getByText("No counter was recorded in this part").waitFor();
  });
}
