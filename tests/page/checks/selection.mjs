// SPDX-License-Identifier: MIT
// What is selected holds for all views, and can be said without the address.
import assert from "node:assert/strict";
import { onGolden, sql } from "../golden_pages.mjs";
import { answered, savedBoxes, settled } from "../kit.mjs";

const layersOfEvents = ["app", "posix", "stdio", "cuda", "gpu"];

async function countOnScreen(page) {
  await settled(page);
  const boxes = await savedBoxes(page);
  await page.getByText("Save", { exact: true }).click(); // closes it
  // A condition speaks of events: samples stay.
  const events = boxes.filter((box) => layersOfEvents.includes(box.layer));
  return events.reduce((sum, box) => sum + Number(box.events), 0);
}

export async function checkTheTimelineFollowsWhereAndLayers(browser) {
  await onGolden(browser, ["small"], "#timeline?where=bytes%20%3E%204000", async (page, path, address) => {
    const wanted = sql(path, "SELECT count(*) AS n FROM events WHERE bytes > 4000")[0].n;
    assert.equal(await countOnScreen(page), wanted);
    await page.goto(`${address.split("?")[0]}#timeline?layer=app`);
    assert.equal(await countOnScreen(page), sql(path, "SELECT count(*) AS n FROM events WHERE layer = 'app'")[0].n);
  });
}

export async function checkAConditionIsTyped(browser) {
  await onGolden(browser, ["small"], "#timeline", async (page, path) => {
    await settled(page);
    await page.keyboard.press("c");
    const field = page.getByLabel("events where");
    await field.waitFor();
    await page.waitForFunction(() => document.activeElement?.id === "where");
    await page.keyboard.type("no_such_column > 1");
    await page.keyboard.press("Enter");
    await page.locator(".where-field [role=alert]").waitFor();
    assert.match(await page.locator(".where-field [role=alert]").innerText(), /no_such_column/);
    assert.doesNotMatch(page.url(), /where/, "what is refused is not selected");
    await field.fill("name = 'pread' -- those alone");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.includes("where="));
    assert.equal(await page.locator(".where-field [role=alert]").count(), 0);
    await field.fill("name = 'pread'");
    await page.keyboard.press("Enter");
    await page.locator(".chip", { hasText: "where name = 'pread'" }).waitFor();
    const wanted = sql(path, "SELECT count(*) AS n FROM events WHERE name = 'pread'")[0].n;
    assert.equal(await countOnScreen(page), wanted);
    await page.getByRole("link", { name: "Overview" }).click();
    await answered(page);
    await page.getByText("Advice is about the whole run").waitFor();
    await field.fill("");
    await field.press("Enter");
    await page.locator("[aria-label=Insights] h2").waitFor();
  });
}

export async function checkSeveralTracksAreSelected(browser) {
  await onGolden(browser, ["small"], "#timeline", async (page) => {
    await settled(page);
    const names = page.locator(".tl-name.process .tl-label");
    assert.equal(await names.count(), 2);
    await page.keyboard.down("Control");
    await names.nth(0).click();
    await names.nth(1).click();
    assert.equal(await page.locator(".tl-label.marked").count(), 2);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => location.hash.includes("pid=10&pid=20"));
    assert.equal(await page.locator(".chip").count(), 2);
  });
}
