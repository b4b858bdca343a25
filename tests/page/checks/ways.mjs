// SPDX-License-Identifier: MIT
// Everything that is told of leads to its place in the timeline, back leads back, and what is selected can be let go.
import assert from "node:assert/strict";
import { onGolden } from "../golden_pages.mjs";
import { answered, settled } from "../kit.mjs";

async function inTimeline(page) {
  await page.waitForFunction(() => location.hash.startsWith("#timeline"));
  await settled(page);
}

async function rowOf(page, table, text) {
  const figure = page.locator("figure").filter({ has: page.locator("figcaption", { hasText: table }) });
  return figure.first().locator("tr.leads").filter({ hasText: text }).first();
}

export async function checkRowsLeadToTheTimeline(browser) {
  await onGolden(browser, ["small"], "#overview", async (page) => {
    await answered(page);
    await (await rowOf(page, "Top functions", "load")).click();
    await inTimeline(page);
    assert.equal(await page.locator("#search").inputValue(), "load", "others are faded");
    await page.locator("#search").fill("");
    await page.locator(".chip").first().getByRole("button").click();
    await page.waitForFunction(() => !document.querySelector(".chip"));
    for (let steps = 0; steps < 4 && !page.url().includes("#overview"); ++steps) await page.goBack();
    await answered(page);
    assert.match(page.url(), /#overview/);
    // The same key searches tables.
    await page.keyboard.press("/");
    await page.keyboard.type("fwrite");
    await page
      .getByText(/^The search matches 1 of \d+ rows/)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await page
      .getByText(/The search matches/)
      .first()
      .waitFor({ state: "detached" });
  });
}

export async function checkRowsOfSqlLeadToTheirTime(browser) {
  const question = "SELECT ts, dur, pid, tid, name FROM events WHERE name = 'pread' ORDER BY ts LIMIT 1";
  await onGolden(browser, ["small"], `#sql?sql.query=${encodeURIComponent(question)}`, async (page) => {
    await answered(page);
    const row = await rowOf(page, "Result", "pread");
    await row.focus();
    await page.keyboard.press("Enter");
    await inTimeline(page);
    assert.match(page.url(), /from=\d+&to=\d+&pid=\d+&tid=\d+/);
    assert.deepEqual((await page.locator(".chip").allInnerTexts()).length, 3);
    // A call of a microsecond in a run of a thousand would not be seen.
    assert.match(await page.locator(".tl-toolbar [role=status]").innerText(), /^\d\.\d\d us on screen/);
  });
}

export async function checkLevelsAndBoxesLeadToTheTimeline(browser) {
  await onGolden(browser, ["explain"], "#explain", async (page) => {
    await answered(page);
    await (await rowOf(page, "Where the time of", "pread64")).click();
    await inTimeline(page);
    assert.match(page.url(), /from=\d+&to=\d+/);
  });
  await onGolden(browser, ["small"], "#flame", async (page) => {
    await answered(page);
    assert.equal(await page.getByLabel("Weight").inputValue(), "cpu", "where there are samples, they are shown first");
    await page.locator(".flame-picture canvas").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await page.locator(".flame-picture .card").innerText(), /\d samples?$/);
    await page.getByRole("button", { name: "Show in the timeline" }).click();
    await inTimeline(page);
    assert.match(page.url(), /from=\d+&to=\d+/);
  });
}

export async function checkComparedFunctionsLeadToTheTimeline(browser) {
  await onGolden(browser, ["training", "small"], "#compare", async (page) => {
    await answered(page);
    await page.locator("figcaption", { hasText: "By function" }).waitFor();
    await (await rowOf(page, "By function", "step")).click();
    await inTimeline(page);
    assert.match(page.url(), /recording=small/, "the later one");
    await page.goBack();
    await answered(page);
    await page.getByRole("button", { name: "Swap" }).click();
    await page.waitForFunction(() => location.hash.includes("recording=training"));
    await answered(page);
    assert.deepEqual(await page.locator(".compare h2").allInnerTexts(), ["Before", "After"]);
  });
}
