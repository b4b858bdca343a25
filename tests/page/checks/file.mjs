// SPDX-License-Identifier: MIT
// The page of `fathom export --format html`: one file, opened from the disk. What it draws is what SQL says, nothing leaves
// it, and what it cannot answer it says.
import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { golden, said, sql, tableIn, tableOf } from "../golden_pages.mjs";
import { accessProblems, answered, colours, layerColours, openPage, settled, stretches } from "../kit.mjs";
import { hostileName, realRecording, skipWithoutPage } from "../real.mjs";

const tall = { width: 1400, height: 3000 };
const views = ["overview", "timeline", "flame", "io", "gpu", "explain", "resources"];

function exported(path) {
  const file = `${path}.html`;
  if (!existsSync(file)) said(["export", path, "--format", "html", "-o", file]);
  return file;
}

// Opens the file at `hash`; afterwards the console is empty and nothing was asked of anybody.
async function onFile(browser, make, hash, body, options = {}) {
  skipWithoutPage();
  const path = make();
  const file = pathToFileURL(exported(path)).href;
  const page = await openPage(browser, "about:blank", options);
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  try {
    await page.goto(`${file}${hash}`);
    await page.waitForSelector("header nav a");
    await body(page, path);
    assert.deepEqual(page.problems, []);
    const others = asked.filter((url) => !url.startsWith(file) && !url.startsWith("data:") && !url.startsWith("blob:"));
    assert.deepEqual(others, []);
  } finally {
    await page.context().close();
  }
}

const show = async (page, hash) => {
  await page.evaluate((to) => (location.hash = to), hash);
  if (hash.startsWith("#timeline")) await settled(page);
  else await answered(page);
};

export async function checkTheFileSaysWhatTheReportSays(browser) {
  await onFile(
    browser,
    () => golden("small"),
    "#overview",
    async (page, path) => {
      await answered(page);
      const text = said(["report", path]);
      for (const title of ["Top functions", "Top files", "Losses"])
        assert.deepEqual(await tableOf(page, title), tableIn(text, title), title);
      const words = await page.locator(".words li").allInnerTexts();
      assert.deepEqual(words, text.split("\n").slice(0, words.length));
      assert.equal(await page.locator("#without-script").count(), 0);
      await show(page, "#io");
      const files = await tableOf(page, "Files by time");
      assert.equal(files.length, 1 + sql(path, "SELECT DISTINCT file FROM summary WHERE file IS NOT NULL").length);
      // A row leads to the place of the file, also without a server.
      await show(page, "#overview");
      await page.locator("tr.leads").filter({ hasText: "/data/big" }).click();
      await page.waitForFunction(() => location.hash.startsWith("#timeline"));
      assert.match(page.url(), /from=149000&to=251000/);
    },
  );
}

async function offersWhatItCanShow(browser, dark) {
  await onFile(
    browser,
    realRecording,
    "#overview",
    async (page) => {
      const tabs = await page.locator("header nav a").allInnerTexts();
      assert.deepEqual(tabs, ["Overview", "Timeline", "Flame", "I/O", "GPU", "Explain", "Resources"]);
      for (const view of views) {
        await show(page, `#${view}`);
        assert.equal(await page.locator("[role=alert]").count(), 0, view);
        assert.equal(await page.locator('a[href*="/api/"]').count(), 0, view);
        assert.deepEqual(await accessProblems(page), [], view);
      }
    },
    { dark, bypassCSP: true }, // axe-core is a script of the check's own
  );
}

export const checkTheFileOffersWhatItCanShow = (browser) => offersWhatItCanShow(browser, false);
export const checkTheFileOffersTheSameInTheDark = (browser) => offersWhatItCanShow(browser, true);

export async function checkTheFileDrawsEveryEvent(browser) {
  await onFile(
    browser,
    realRecording,
    "#timeline",
    async (page, path) => {
      await settled(page);
      const [longest] = sql(path, "SELECT ts, dur, layer, tid FROM events WHERE depth = 0 ORDER BY dur DESC LIMIT 1");
      const { width } = await page.locator(".tl-surface").boundingBox();
      const row = page.locator(".tl-name.thread", { hasText: String(longest.tid) }).first();
      const top = (await row.boundingBox()).y - (await page.locator(".tl-surface").boundingBox()).y;
      const wall = await page.evaluate(
        () =>
          JSON.parse(document.getElementById("fathom-data").textContent).answers.find((each) => each.asked === "/page")
            .answer.recordings[0].wall_ns,
      );
      const x = ((longest.ts + longest.dur / 2) / wall) * width;
      const [seen] = await colours(page, ".tl-surface", [[x, top + 17]]);
      assert.equal(seen, layerColours()[longest.layer]);
      // Deep inside: a single event, as wide as SQL says.
      const [event] = sql(path, "SELECT ts, dur, name FROM events WHERE layer = 'posix' ORDER BY dur DESC LIMIT 1");
      await page.evaluate(
        (at) => (location.hash = at),
        `#timeline?timeline.at=${event.ts - event.dur}-${event.ts + 2 * event.dur}`,
      );
      await page.reload();
      await settled(page);
      assert.doesNotMatch(await page.locator(".tl-toolbar [role=status]").innerText(), /no finer boxes/);
      await page.locator("#search").fill(event.name);
      await page.keyboard.press("Enter");
      assert.doesNotMatch(await page.locator(".tl-toolbar [role=status]").innerText(), /No further match/);
    },
    { size: tall },
  );
}

export async function checkFlameWidthsOfTheFileAreWhatSqlSays(browser) {
  await onFile(
    browser,
    () => golden("small"),
    "#flame?flame.weight=time",
    async (page, path) => {
      await answered(page);
      const [{ total }] = sql(path, "SELECT CAST(sum(self) AS BIGINT) AS total FROM events WHERE tid IS NOT NULL");
      const tops = "SELECT CAST(sum(dur) AS BIGINT) AS time FROM events WHERE depth = 0 AND tid IS NOT NULL";
      const [{ time }] = sql(path, `${tops} GROUP BY layer, name ORDER BY time DESC LIMIT 1`);
      const width = await page.$eval(".flame-picture canvas", (canvas) => canvas.clientWidth);
      const [colour] = await colours(page, ".flame-picture canvas", [[3, 19]]);
      const [[left, right]] = await stretches(page, ".flame-picture canvas", 19, colour);
      const wanted = (time / total) * width;
      assert.ok(left < 1.5 && Math.abs(right - left - wanted) < 2.5, `${right - left} instead of ${wanted} pixels`);
      for (const mode of ["time", "inverted", "sandwich"]) {
        await show(page, `#flame?flame.weight=time&flame.mode=${mode}`);
        assert.equal(await page.locator("[role=alert]").count(), 0, mode);
      }
    },
  );
}

// No number of the whole is shown for a part.
export async function checkTheFileRefusesAPart(browser) {
  await onFile(
    browser,
    () => golden("small"),
    "#overview?layer=posix",
    async (page) => {
      for (const view of ["overview", "flame", "io", "gpu", "explain"]) {
        await show(page, `#${view}?layer=posix`);
        const words = await page.locator("[role=alert]").first().innerText();
        assert.match(words, /numbers of the whole run only.*fathom view small\.fathom/s, view);
        assert.equal(await page.locator("main table, main canvas").count(), 0, view);
      }
      await page.keyboard.press("x");
      await answered(page);
      assert.equal(await page.locator("[role=alert]").count(), 0);
    },
  );
}

export async function checkAHostileNameStaysTextInTheFile(browser) {
  await onFile(browser, realRecording, "#io", async (page) => {
    let alerts = 0;
    page.on("dialog", (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    await answered(page);
    await page.getByText(hostileName.slice(0, 12)).first().waitFor();
    for (const view of views) await show(page, `#${view}`);
    assert.equal(alerts, 0);
    assert.equal(await page.locator("main img").count(), 0);
  });
}

// In a reader that runs no scripts: sentences and facts, and names as text.
export async function checkTheFileSpeaksWithoutScripts(browser) {
  skipWithoutPage();
  const path = realRecording();
  const file = exported(path);
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    const words = await page.locator("#without-script").innerText();
    const [first] = said(["report", path]).split("\n");
    assert.ok(words.includes(first), words);
    assert.match(words, /Duration/);
    assert.equal(await page.locator("img").count(), 0);
  } finally {
    await context.close();
  }
  const size = statSync(file).size;
  assert.ok(size < 1_000_000, `${size} bytes of a small recording`);
}
