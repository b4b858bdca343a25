// SPDX-License-Identifier: MIT
// Measures the timeline in the browser while somebody pans and zooms through a recording: how long frames take to draw,
// how far apart they come, which tasks block. Prints one line of JSON; asserts nothing. bench/page.py runs it.
// usage: node pan.mjs ADDRESS
import { gapsWhile, percentile, watchTasks } from "./frames.mjs";
import { answered, openBrowser, openPage } from "./kit.mjs";

// In the page: whether the timeline shows a box, which has its layer's colour; all else on it is grey.
function hasBoxes() {
  const canvas = document.querySelector("canvas.tl-surface");
  if (!canvas?.width) return false;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  for (let at = 0; at < pixels.length; at += 4) {
    const [red, green, blue] = pixels.subarray(at, at + 3);
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 40) return true;
  }
  return false;
}

// The longest task that blocks while each other view is opened in turn. The last one has a table of many rows.
async function longestOfViews(page) {
  await page.evaluate(() => (globalThis.tasks.length = 0));
  const views = await page.$$eval("header nav a", (links) => links.map((link) => new URL(link.href).hash));
  const others = views.filter((hash) => !hash.startsWith("#timeline"));
  for (const hash of [...others, `#sql?sql.query=${encodeURIComponent("FROM events LIMIT 10000")}`]) {
    await page.evaluate((hash) => (location.hash = hash), hash);
    await answered(page);
  }
  return page.evaluate(() => Math.max(0, ...globalThis.tasks));
}

const browser = await openBrowser();
try {
  const begin = Date.now();
  const page = await openPage(browser, `${process.argv[2]}#timeline`);
  await page.waitForSelector("header nav a");
  await page.evaluate(watchTasks);
  await page.waitForFunction(hasBoxes, undefined, { timeout: 300_000, polling: 100 });
  const firstPaint = Date.now() - begin;
  // Until the server's index is there, the picture is coarse and asked for again.
  await page.waitForSelector('.tl-picture[aria-busy="false"]', { timeout: 300_000 });
  await page.waitForFunction(
    () => !document.querySelector(".tl-toolbar").textContent.includes("Reading all events"),
    undefined,
    { timeout: 500_000 },
  );
  const indexed = Date.now() - begin;
  await page.evaluate(() => performance.clearMeasures("fathom.frame"));
  await page.evaluate(() => (globalThis.tasks.length = 0));
  const gaps = await gapsWhile(page, [["w"], ["d"], ["a", "a", "s", "w"], ["d", "w", "d", "s"]]);
  const draws = await page.evaluate(() => performance.getEntriesByName("fathom.frame").map((each) => each.duration));
  const tasks = await page.evaluate(() => globalThis.tasks);
  const result = {
    first_paint_ms: firstPaint,
    indexed_ms: indexed,
    frames: gaps.length,
    gap_p50_ms: percentile(gaps, 0.5),
    gap_p95_ms: percentile(gaps, 0.95),
    draw_p50_ms: percentile(draws, 0.5),
    draw_p95_ms: percentile(draws, 0.95),
    longest_task_ms: Math.max(0, ...tasks),
    longest_of_views_ms: await longestOfViews(page),
  };
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
}
