// SPDX-License-Identifier: MIT
// What the levels of a call have of its time, as Explain draws it, is what SQL says.
import assert from "node:assert/strict";
import { onGolden, sql } from "../golden_pages.mjs";
import { answered, savedTable } from "../kit.mjs";

// The time of everything that lies in calls of pread, as far as it does: by its middle, a request by its begin.
const inside = `
  WITH calls AS (SELECT pid, tid, ts, ts + dur AS till FROM events WHERE layer = 'posix' AND name = 'pread')
  SELECT e.name, e.layer, CAST(sum(least(e.ts + e.dur, till) - greatest(e.ts, c.ts)) AS BIGINT) AS time
  FROM events e JOIN calls c ON c.pid = e.pid AND c.tid = e.tid AND
    e.ts + if(e.layer = 'block', 0, e.dur // 2) BETWEEN c.ts AND c.till
  WHERE e.layer <> 'posix' AND e.dur > 0 GROUP BY ALL`;

// As it is drawn: how far each row is indented, and how much of its column the bar fills.
function drawn(page) {
  return page.locator(".levels tbody tr").evaluateAll((rows) =>
    rows.map((row) => {
      const bar = row.querySelector(".share span");
      const { paddingLeft, paddingRight } = getComputedStyle(bar.parentElement);
      const room = bar.parentElement.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      return {
        call: row.children[0].textContent,
        indent: parseFloat(getComputedStyle(row.children[0]).paddingLeft),
        share: bar.getBoundingClientRect().width / room,
        room,
      };
    }),
  );
}

// What is left of a level stands in brackets: with it, the parts of a level are all of it.
function partsAreTheWhole(rows) {
  for (const [at, { depth, time, call }] of rows.entries()) {
    const after = rows.slice(at + 1);
    const end = after.findIndex((each) => Number(each.depth) <= Number(depth));
    const below = after.slice(0, end < 0 ? after.length : end);
    const children = below.filter((each) => Number(each.depth) === Number(depth) + 1);
    if (children.length === 0) continue;
    const sum = children.reduce((all, each) => all + Number(each.time), 0);
    assert.equal(sum, Number(time), `the parts of ${call}`);
  }
}

export async function checkSharesOfLevels(browser) {
  await onGolden(browser, ["explain"], "#explain?explain.call=pread", async (page, path) => {
    await answered(page);
    const rows = await savedTable(page, page.locator("figure.levels"));
    const [{ total }] = sql(path, "SELECT CAST(sum(dur) AS BIGINT) AS total FROM events WHERE name = 'pread'");
    assert.equal(Number(rows[0].time), total);
    partsAreTheWhole(rows);
    const wanted = sql(path, inside);
    assert.deepEqual(wanted.map(({ name }) => name).sort(), ["block", "pread64", "read", "runqueue"]);
    for (const { name, layer, time } of wanted) {
      const those = rows.filter((each) => each.call === name && each.layer === layer);
      assert.equal(
        those.reduce((sum, each) => sum + Number(each.time), 0),
        time,
        `${name} of ${layer}`,
      );
    }
    const seen = await drawn(page);
    assert.equal(seen.length, rows.length);
    for (const [at, { call, depth, time }] of rows.entries()) {
      const { call: name, indent, share, room } = seen[at];
      assert.equal(name, call);
      assert.equal(indent, 20 * Number(depth) + 8, `${call} is ${depth} levels inside`);
      const wide = Math.max(Number(time) / total, 1 / room); // what is nearly nothing is a line
      assert.ok(Math.abs(share - wide) * room < 1, `${call}: ${share} instead of ${wide}`);
    }
  });
}
