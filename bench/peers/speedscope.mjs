// SPDX-License-Identifier: MIT
// Measures speedscope as tests/page/pan.mjs measures our timeline: the first picture of a profile, and frames while
// somebody zooms and pans through it. Prints one line of JSON. WebGL is drawn in software where there is no GPU.
// usage: node speedscope.mjs PROFILE.json   (FATHOM_WEB_PACKAGES, FATHOM_CHROMIUM as for tests/page)
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { gapsWhile, percentile, watchTasks } from "../../tests/page/frames.mjs";

const packages = process.env.FATHOM_WEB_PACKAGES;
const { chromium } = createRequire(join(packages, "/"))("playwright-core");
const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

// speedscope's own files, and the profile beside them.
function serve(profile) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://localhost").pathname;
    const path = name === "/profile.json" ? profile : join(packages, "speedscope/dist/release", name);
    response.setHeader("Content-Type", kinds[extname(path)] ?? "application/octet-stream");
    createReadStream(path)
      .on("error", () => response.writeHead(404).end())
      .pipe(response);
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

const server = await serve(process.argv[2]);
const software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({
  executablePath: process.env.FATHOM_CHROMIUM,
  args: ["--no-sandbox", ...software],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const begin = Date.now();
  const top = `http://127.0.0.1:${server.address().port}`;
  await page.goto(`${top}/index.html#profileURL=${encodeURIComponent(`${top}/profile.json`)}`);
  await page.evaluate(watchTasks);
  // Its title names the profile as soon as it is laid out; the next frame shows it.
  await page.waitForFunction(() => document.title !== "speedscope", undefined, { timeout: 300_000, polling: 100 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const firstPaint = Date.now() - begin;
  await page.evaluate(() => (globalThis.tasks.length = 0));
  const gaps = await gapsWhile(page, [["+"], ["d"], ["a", "a", "-", "+"], ["d", "+", "d", "-"]]);
  const tasks = await page.evaluate(() => globalThis.tasks);
  const result = {
    first_paint_ms: firstPaint,
    gap_p95_ms: percentile(gaps, 0.95),
    longest_task_ms: Math.max(0, ...tasks),
  };
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
  server.close();
}
