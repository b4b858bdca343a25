// SPDX-License-Identifier: MIT
// Measures the timeline in the browser while somebody pans and zooms through a recording: how long frames take to draw,
// how far apart they come, which tasks block. Prints one line of JSON; asserts nothing. bench/page.py runs it.
// usage: node pan.mjs ADDRESS
import { openBrowser, openPage } from "./kit.mjs";

const steps = 120;

function at(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

// In the page: moves by keys, one a frame, and notes when frames came.
async function move({ count, keys }) {
  const gaps = [];
  let before = await new Promise(requestAnimationFrame);
  for (let step = 0; step < count; ++step) {
    dispatchEvent(new KeyboardEvent("keydown", { key: keys[step % keys.length], bubbles: true }));
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - before);
    before = now;
  }
  return gaps;
}

const browser = await openBrowser();
try {
  const page = await openPage(browser, process.argv[2]);
  await page.waitForSelector("header nav a");
  await page.evaluate(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((each) => each.duration))).observe(
      { type: "longtask" },
    );
    location.hash = "#timeline";
  });
  const begin = Date.now();
  await page.waitForSelector('.tl-picture[aria-busy="false"]', { timeout: 300_000 });
  const firstPaint = Date.now() - begin;
  // Until the server's index is there, the picture is coarse.
  await page.waitForFunction(
    () => !document.querySelector(".tl-toolbar").textContent.includes("Reading all events"),
    undefined,
    { timeout: 500_000 },
  );
  const indexed = Date.now() - begin;
  await page.evaluate(() => performance.clearMeasures("fathom.frame"));
  await page.evaluate(() => (globalThis.tasks.length = 0));
  const gaps = [];
  for (const keys of [["w"], ["d"], ["a", "a", "s", "w"], ["d", "w", "d", "s"]]) {
    gaps.push(...(await page.evaluate(move, { count: keys[0] === "w" ? 12 : steps, keys })));
  }
  const draws = await page.evaluate(() => performance.getEntriesByName("fathom.frame").map((each) => each.duration));
  const tasks = await page.evaluate(() => globalThis.tasks);
  const seen = gaps;
  const result = {
    first_paint_ms: firstPaint,
    indexed_ms: indexed,
    frames: seen.length,
    gap_p50_ms: at(seen, 0.5),
    gap_p95_ms: at(seen, 0.95),
    draw_p50_ms: at(draws, 0.5),
    draw_p95_ms: at(draws, 0.95),
    longest_task_ms: Math.max(0, ...tasks),
  };
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
}
