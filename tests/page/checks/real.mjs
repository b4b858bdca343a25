// SPDX-License-Identifier: MIT
// A real `fathom view` of a real recording: what is drawn is what SQL says.
import assert from "node:assert/strict";
import { accessProblems, asked, colours, layerColours, openPage, savedBoxes, settled } from "../kit.mjs";
import { hostileName, realPage, sql } from "../real.mjs";

const surface = ".tl-surface";
const fills = layerColours();

// High enough for all tracks of a small recording.
const tall = { width: 1400, height: 3000 };

async function onReal(browser, view, body, options = {}) {
  const { path, address } = await realPage();
  const page = await openPage(browser, address, { size: tall, ...options });
  try {
    await page.waitForSelector("header nav a");
    await page.evaluate((id) => (location.hash = id), `#${view}`);
    await body(page, path);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

export async function checkEveryEventIsInOneBox(browser) {
  await onReal(browser, "timeline", async (page, path) => {
    await settled(page);
    const boxes = await savedBoxes(page);
    // Short calls of several layers may share a box, which has the colour of the one with most time.
    const layers = sql(path, "SELECT DISTINCT layer FROM events").map((row) => row.layer);
    const drawn = boxes.filter((box) => layers.includes(box.layer)).reduce((sum, box) => sum + Number(box.events), 0);
    const [{ events }] = sql(path, "SELECT count(*) AS events FROM events");
    assert.ok(events > 0);
    assert.equal(drawn, events);
  });
}

export async function checkColoursAndPlacesAreThoseOfTheEvents(browser) {
  await onReal(browser, "timeline", async (page, path) => {
    await settled(page);
    const wall = sql(path, "SELECT max(ts + dur) AS wall FROM events")[0].wall;
    const events = sql(path, "SELECT ts, dur, layer, name, tid FROM events WHERE depth = 0 ORDER BY dur DESC LIMIT 5");
    const { width } = await page.locator(surface).boundingBox();
    const span = await page.evaluate(() => document.querySelector(".tl-toolbar [role=status]").textContent);
    assert.match(span, /on screen/);
    const boxes = await savedBoxes(page);
    for (const event of events) {
      const drawn = boxes.find(
        (box) => Number(box.start_ns) === event.ts && box.name === event.name && box.tid === String(event.tid),
      );
      assert.ok(drawn, `${event.name} at ${event.ts}`);
      if (Number(drawn.events) === 1) assert.equal(Number(drawn.dur_ns), event.dur);
    }
    // The longest is wide enough to look at: its middle, at the bottom of its line, where no letters are.
    const [longest] = events;
    const row = page.locator(".tl-name.thread", { hasText: String(longest.tid) }).first();
    const top = (await row.boundingBox()).y - (await page.locator(surface).boundingBox()).y;
    const shown = await wallOnScreen(page, wall);
    const x = ((longest.ts + longest.dur / 2) / shown) * width;
    const [seen] = await colours(page, surface, [[x, top + 17]]);
    assert.equal(seen, fills[longest.layer], `${longest.name} of ${longest.layer} at ${x}, ${top}`);
  });
}

// The camera shows the whole recording, whose wall time /page tells.
async function wallOnScreen(page, least) {
  const wall = (await asked(page, "/page")).recordings[0].wall_ns;
  assert.ok(wall >= least);
  return wall;
}

export async function checkANameThatIsAScriptStaysText(browser) {
  await onReal(browser, "timeline", async (page, path) => {
    let alerts = 0;
    page.on("dialog", (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    await settled(page);
    const [event] = sql(path, `SELECT ts, dur FROM events WHERE file LIKE '%<img%' ORDER BY dur DESC LIMIT 1`);
    const at = `timeline.at=${Math.max(0, event.ts - event.dur)}-${event.ts + 2 * event.dur + 20}`;
    await page.evaluate((hash) => (location.hash = hash), `#timeline?${at}`);
    await page.reload();
    await settled(page);
    for (const view of ["overview", "io", "timeline"]) {
      await page.evaluate((hash) => (location.hash = hash), `#${view}?${at}`);
      await page.waitForFunction(() => !document.querySelector(".spinner"));
    }
    assert.equal(alerts, 0);
    assert.equal(await page.locator("main img").count(), 0);
    await page.evaluate(() => (location.hash = "#io"));
    await page.getByText(hostileName.slice(0, 12)).first().waitFor();
  });
}

export async function checkAllViewsAreReachableForAll(browser) {
  await onReal(
    browser,
    "overview",
    async (page) => {
      const views = await page.locator("header nav a").evaluateAll((links) => links.map((link) => link.textContent));
      assert.ok(views.includes("Timeline"));
      for (const view of views) {
        await page.locator("header nav a", { hasText: view }).click();
        await page
          .waitForFunction(() => !document.querySelector(".spinner"))
          .catch(() => assert.fail(`${view} loads for ever`));
        assert.deepEqual(await accessProblems(page), [], view);
      }
    },
    { bypassCSP: true, size: { width: 1280, height: 900 } },
  );
}
