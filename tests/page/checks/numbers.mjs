// SPDX-License-Identifier: MIT
// The numbers behind pictures, as they are saved, are those of SQL.
import assert from "node:assert/strict";
import { onGolden, sql } from "../golden_pages.mjs";
import { answered, savedTable } from "../kit.mjs";

function sums(rows, key, value) {
  const all = {};
  for (const row of rows) if (Number(row[value]) !== 0) all[row[key]] = (all[row[key]] ?? 0) + Number(row[value]);
  return all;
}

const ofSamples = (event) =>
  `SELECT function AS name, CAST(sum(weight) AS BIGINT) AS weight FROM samples JOIN (
     SELECT stack, arg_max(function, depth) AS function FROM frames GROUP BY stack) USING (stack)
   WHERE event = '${event}' GROUP BY ALL`;

// The weight that each function has by itself, however the picture is ordered.
const flames = [
  ["calls", "SELECT name, count(*) AS weight FROM events WHERE tid IS NOT NULL GROUP BY name"],
  ["time", "SELECT name, CAST(sum(self) AS BIGINT) AS weight FROM events WHERE tid IS NOT NULL GROUP BY name"],
  ["cpu", ofSamples("cpu-clock")],
  ["cycles", ofSamples("cycles")],
];

export async function checkFlamesOfEveryWeight(browser) {
  await onGolden(browser, ["small"], "#flame", async (page, path) => {
    for (const [weight, question] of flames) {
      const wanted = sums(sql(path, question), "name", "weight");
      for (const mode of weight === "cpu" || weight === "cycles" ? ["left", "time"] : ["left"]) {
        await page.evaluate((hash) => (location.hash = hash), `flame?flame.weight=${weight}&flame.mode=${mode}`);
        await answered(page);
        const rows = await savedTable(page, page.locator("figure.drawn").first());
        assert.deepEqual(sums(rows, "name", "self"), wanted, `${weight}, ${mode}`);
      }
    }
  });
}

export async function checkLinesOfResources(browser) {
  await onGolden(browser, ["small"], "#resources", async (page, path) => {
    await answered(page);
    const plot = page.locator("figure.plot").filter({ has: page.getByRole("img", { name: /^rss over time/ }) });
    const rows = await savedTable(page, plot);
    const values = sql(path, "SELECT ts, CAST(value AS BIGINT) AS value FROM counters WHERE name = 'rss' ORDER BY ts");
    // Values of a stretch that is narrower than a pixel stand at its begin.
    const [{ wall }] = sql(path, "SELECT CAST(value AS BIGINT) AS wall FROM run WHERE key = 'duration_ns'");
    assert.equal(rows.length, values.length);
    for (const [at, row] of rows.entries()) {
      const [ts, value] = Object.values(row).map(Number);
      assert.equal(value, values[at].value);
      assert.ok(ts <= values[at].ts && values[at].ts - ts < wall / 300, `${ts} for ${values[at].ts}`);
    }
  });
}
