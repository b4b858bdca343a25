// SPDX-License-Identifier: MIT
// Ranks that were recorded each by itself, as one: a directory of them, here or kept by a server.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { FleetServer } from "../fleet_server.mjs";
import { imported, said, sql } from "../golden_pages.mjs";
import { asked, goTo, openPage, savedTable, settled } from "../kit.mjs";
import { realPage } from "../real.mjs";

// Two hosts with a process of one number, which read more and longer the higher their rank.
function ranks() {
  const paths = [0, 1].map((rank) =>
    imported(`ranks/r${rank}`, [
      "fathom recording 1",
      `run host=node${rank} start=1700000000000000000 duration=1000000 exit=0 command="mpi"`,
      `process 7 name=mpi start=0 end=1000000 exit=0 rank=${rank}`,
      `thread 7/7 start=0 end=1000000 rank=${rank}`,
      `event 7/7 ${100_000 + 300_000 * rank} +${100_000 * (rank + 1)} posix read category=read file=/in ` +
        `size=4096 bytes=${4096 * (rank + 1)} ret=4096 rank=${rank}`,
      `event 7/7 800000 +${10_000 * (rank + 1)} posix read category=read file=/in size=512 bytes=512 ret=512 rank=${rank}`,
    ]),
  );
  return dirname(paths[0]);
}

// What a cell of the map has, by the name of its row: the page of a recording's I/O.
async function hasCellsOfRanks(page, directory, id) {
  await goTo(page, `#io?recording=${encodeURIComponent(id)}&io.rows=rank`);
  const rows = await savedTable(page, page.locator("figure.heat-map").first());
  const seen = rows.map(({ row, ts, value }) => [row, Number(ts), Number(value)]);
  const bin = Math.ceil(1_000_000 / 240);
  const wanted = sql(
    directory,
    `SELECT concat('rank ', rank) AS row, CAST(ts // ${bin} * ${bin} AS BIGINT) AS ts, CAST(sum(bytes) AS BIGINT) AS value
     FROM events GROUP BY ALL`,
  );
  assert.equal(wanted.length, 4);
  const inOrder = (all) => all.map((each) => each.join()).sort();
  assert.deepEqual(inOrder(seen), inOrder(wanted.map(({ row, ts, value }) => [row, ts, value])));
}

// Not its namesake of the other host.
async function leadsToItsHost(page) {
  const canvas = page.locator("figure.heat-map canvas").first();
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#timeline"));
  await settled(page);
  assert.match(page.url(), /host=node1&pid=7/, "the first row is that with most bytes");
}

export async function checkRanksOfADirectory(browser) {
  const { path, address } = await realPage(ranks);
  const page = await openPage(browser, `${address}#io`);
  try {
    const { recordings } = await asked(page, "/page");
    await hasCellsOfRanks(page, path, recordings[0].id);
    await leadsToItsHost(page);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

export async function checkRanksOnAServer(browser) {
  const server = new FleetServer();
  try {
    const address = await server.start();
    const directory = ranks();
    server.command("job", "add-recording", directory, "ranks");
    const page = await openPage(browser, `${address}#io`);
    await page.waitForSelector("header nav a");
    await hasCellsOfRanks(page, directory, "ranks");
    const report = await asked(page, "/report/ranks?recording=ranks");
    const wanted = JSON.parse(said(["report", directory, "ranks", "--format", "json"]));
    assert.equal(wanted.ranks_by_time_busy.length, 2);
    assert.deepEqual(report, wanted);
    await leadsToItsHost(page);
    await page.context().close();
  } finally {
    await server.stop();
  }
}
