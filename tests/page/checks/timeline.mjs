// SPDX-License-Identifier: MIT
// The timeline on recordings by a rule: what has to be where is known to the pixel.
import assert from "node:assert/strict";
import { FakeServer } from "../fake/server.mjs";
import { accessProblems, colours, dist, layerColours, looksLike, openPage, settled, stretches } from "../kit.mjs";

const surface = ".tl-surface";
const fills = layerColours();
const { app } = fills;

async function onFake(browser, hash, body, options = {}) {
  const server = new FakeServer(dist);
  const address = await server.start();
  const page = await openPage(browser, address + hash, options);
  try {
    await settled(page);
    await body(page, server);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
    await server.stop();
  }
}

// Where the row of a track lies on the canvas.
async function topOf(page, name) {
  const row = await page.locator(".tl-name", { hasText: name }).first().boundingBox();
  const canvas = await page.locator(surface).boundingBox();
  return row.y - canvas.y;
}

export async function checkBoxesLieWhereTheyShould(browser) {
  await onFake(browser, "#timeline", async (page) => {
    const { width } = await page.locator(surface).boundingBox();
    const y = (await topOf(page, "thread 71")) + 14;
    const found = await stretches(page, surface, y, app);
    const steps = found.filter(([left, right]) => right - left > 20);
    assert.equal(steps.length, 10, "ten calls of 80 ms in a second");
    for (const [at, [left, right]] of steps.entries()) {
      assert.ok(Math.abs(left - (at / 10) * width) <= 1.5, `call ${at} begins at ${left}`);
      assert.ok(Math.abs(right - left - 0.08 * width) <= 2, `call ${at} is ${right - left} px wide`);
    }
    // Below the letters, which are not of that colour.
    const [block, wait] = await colours(page, surface, [
      [0.35 * width, (await topOf(page, "<img")) + 16],
      [0.005 * width, (await topOf(page, "samples")) + 6],
    ]);
    assert.equal(block, fills.block);
    assert.equal(wait, fills.wait);
  });
}

export async function checkZoomAsksForFinerBoxes(browser) {
  await onFake(browser, "#timeline?timeline.at=100000000-104000000", async (page, server) => {
    const { width } = await page.locator(surface).boundingBox();
    const y = (await topOf(page, "thread 70")) + 18 + 12;
    const reads = await stretches(page, surface, y, fills.posix);
    assert.equal(reads.filter(([left, right]) => right - left > 10).length, 5, "five reads in 4 ms");
    assert.ok(reads.some(([left, right]) => Math.abs(right - left - (0.3 / 4) * width) <= 20));
    const asked = () => server.asked.filter((path) => /^\/api\/v1\/(timeline|tracks)/.test(path)).length;
    for (const key of ["d", "a"]) {
      await page.keyboard.press(key);
      await settled(page);
    }
    const known = asked();
    await page.keyboard.press("d");
    await page.waitForTimeout(600); // the address has been brought up to date by then
    await settled(page);
    assert.equal(asked(), known, "what is known is not asked again");
  });
}

export async function checkClickShowsTheEvent(browser) {
  await onFake(browser, "#timeline", async (page) => {
    const { x, y, width } = await page.locator(surface).boundingBox();
    await page.mouse.click(x + 0.14 * width, y + (await topOf(page, "thread 70")) + 10);
    await page.waitForSelector(".tl-details .fields");
    const said = await page.locator(".tl-details").innerText();
    assert.match(said, /step 1/);
    assert.match(said, /80\.0 ms \(80,000,000 ns\)/);
    await page.keyboard.press(".");
    await page.waitForFunction(() => document.querySelector(".tl-details h2").textContent === "step 2");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".tl-details").count(), 0);
  });
}

export async function checkRangeIsSelectedAndKept(browser) {
  await onFake(browser, "#timeline", async (page) => {
    const { x, y, width } = await page.locator(".tl-ruler").boundingBox();
    await page.mouse.move(x + 0.2 * width, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + 0.4 * width, y + 10, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector(".chip");
    const hash = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1]);
    assert.ok(
      Math.abs(Number(hash.get("from")) - 2e8) < 3e6 && Math.abs(Number(hash.get("to")) - 4e8) < 3e6,
      page.url(),
    );
    assert.match(await page.locator(".chip").first().innerText(), /200 ms to 400 ms|\(200 ms\)/);
    await page.goBack();
    await page.waitForFunction(() => !document.querySelector(".chip"));
    await page.goForward();
    await page.waitForSelector(".chip");
    await page.reload();
    await page.waitForSelector(".chip");
    await settled(page);
    await page.keyboard.press("x");
    await page.waitForFunction(() => !document.querySelector(".chip"));
  });
}

export async function checkTenThousandTracks(browser) {
  await onFake(browser, "#timeline?recording=wide", async (page, server) => {
    assert.ok((await page.locator(".tl-name").count()) < 80, "only what is seen is in the document");
    await page.evaluate(() => {
      document.querySelector(".tl-body").scrollTop = 5000 * 23;
    });
    await settled(page);
    const names = await page.locator(".tl-name").allInnerTexts();
    assert.ok(
      names.some((name) => /thread 49\d\d|thread 50\d\d/.test(name)),
      names[0],
    );
    const y = (await page.locator(".tl-name").nth(5).boundingBox()).y - (await page.locator(surface).boundingBox()).y;
    const boxes = (await stretches(page, surface, y + 15, app)).filter(([left, right]) => right - left > 20);
    assert.equal(boxes.length, 3);
    assert.ok(server.asked.every((path) => path.length < 2000));
    assert.equal(await page.locator("img").count(), 0, "a name that is markup stays text");
    assert.doesNotMatch(await page.title(), /^1$/);
  });
}

export async function checkCollapseAndPin(browser) {
  await onFake(browser, "#timeline", async (page) => {
    await page.getByRole("button", { name: "Pin thread 72" }).click();
    await page.waitForFunction(() => document.querySelector(".tl-name").textContent.includes("thread 72"));
    assert.match(await page.evaluate(() => location.hash), /timeline\.pin=12/);
    await page.getByRole("button", { name: "Collapse train (7)" }).click();
    assert.deepEqual(
      (await page.locator(".tl-name").allInnerTexts()).map((name) => name.replaceAll(/[▾▸☆★\s]/g, "")),
      ["thread72", "a", "train(7)"],
    );
  });
}

export async function checkSearchFadesAndGoes(browser) {
  await onFake(browser, "#timeline", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("step 9");
    await settled(page);
    const { width } = await page.locator(surface).boundingBox();
    const y = (await topOf(page, "thread 70")) + 14;
    const kept = (await stretches(page, surface, y, app)).filter(([left, right]) => right - left > 20);
    assert.equal(kept.length, 1);
    assert.ok(Math.abs(kept[0][0] - 0.9 * width) <= 2);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.id), "");
  });
}

export async function checkMeasureAndHelp(browser) {
  await onFake(browser, "#timeline", async (page) => {
    const { x, y, width } = await page.locator(surface).boundingBox();
    await page.keyboard.down("m");
    await page.mouse.move(x + 0.25 * width, y + 200);
    await page.mouse.down();
    await page.mouse.move(x + 0.75 * width, y + 200, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("m");
    await settled(page);
    const [line] = await colours(page, surface, [[0.3 * width, 16]]);
    assert.equal(line, "#0b62b8");
    assert.doesNotMatch(page.url(), /from=/, "measuring selects nothing");
    await page.keyboard.press("?");
    const help = page.locator("dialog[open]");
    assert.match(await help.innerText(), /Zoom in/);
    assert.match(await help.innerText(), /\nMouse\n[\s\S]*Shift and drag\s+Select a range/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("3");
    await page.keyboard.press("?");
    assert.doesNotMatch(await help.innerText(), /Mouse|Zoom/, "another view has none of it");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog[open]").count(), 0);
  });
}

export async function checkFlowsAndFiles(browser) {
  await onFake(browser, "#timeline", async (page) => {
    await page.getByRole("button", { name: "Flows" }).click();
    const { width } = await page.locator(surface).boundingBox();
    await page.waitForTimeout(200);
    await settled(page);
    const y = (await topOf(page, "thread 72")) + 9;
    const [head] = await colours(page, surface, [[0.3 * width - 3, y]]);
    assert.equal(head, "#0b62b8", "the arrow's head");
    await page.getByText("Save", { exact: true }).click();
    for (const [button, name, pattern] of [
      ["Boxes (CSV)", "timeline.csv", /^track,host,pid,tid,depth,layer,name,start_ns,dur_ns,events\n/],
      ["Picture (SVG)", "timeline.svg", /^<svg [\s\S]*&lt;img src=x onerror[\s\S]*<\/svg>\s*$/],
      ["Picture (PNG)", "timeline.png", /PNG/],
    ]) {
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      assert.equal(saved.suggestedFilename(), name);
      const chunks = [];
      for await (const chunk of await saved.createReadStream()) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString("utf8");
      assert.match(text, pattern);
      if (name.endsWith(".csv")) assert.equal(sumOfEvents(text), 6131, "every event is in one box");
    }
    const perfetto = await page.getByRole("link", { name: "Save for Perfetto" }).getAttribute("href");
    assert.match(perfetto, /^\/api\/v1\/export\?format=perfetto/);
  });
}

function sumOfEvents(csv) {
  return csv
    .trim()
    .split("\n")
    .slice(1)
    .reduce((sum, line) => sum + Number(line.split(",").at(-1)), 0);
}

export async function checkAccessAndLooks(browser) {
  for (const dark of [false, true]) {
    await onFake(
      browser,
      "#timeline?from=200000000&to=400000000&timeline.at=0-1000000000",
      async (page) => {
        await looksLike(page, dark ? "timeline-dark" : "timeline-light", ".tl-main");
        assert.deepEqual(await accessProblems(page), []);
      },
      // axe-core comes as a script that the page's own policy forbids.
      { dark, bypassCSP: true },
    );
  }
}

async function namesOf(page) {
  const names = await page.locator(".tl-name .tl-label").allInnerTexts();
  return names.map((name) => name.trim());
}

export async function checkAFirstLookShowsEveryThread(browser) {
  await onFake(
    browser,
    "#timeline?recording=deep",
    async (page) => {
      const strip = "sampled functions";
      const threads = ["thread 90", strip, "thread 91", strip, "thread 92", strip];
      assert.deepEqual(await namesOf(page), ["a", "python (9)", ...threads, "14 counters"]);
      const frame = await page.locator(".tl-body").boundingBox();
      const last = await page.locator(".tl-name").last().boundingBox();
      assert.ok(last.y + last.height <= frame.y + frame.height, "nothing has to be scrolled to");
      await page.getByRole("button", { name: "14 counters", exact: true }).click();
      await page.locator(".tl-name.counter").first().waitFor();
      await page.getByRole("button", { name: "24 more levels of thread 90" }).click();
      const tall = await page.locator(".tl-name.thread").first().boundingBox();
      assert.ok(tall.height > 30 * 18, `${tall.height} pixels for 30 levels`);
      await page.getByRole("button", { name: "fewer levels of thread 90" }).click();
      await page.waitForFunction(() => document.querySelector(".tl-name.thread").clientHeight < 7 * 18);
      assert.deepEqual(await accessProblems(page), []);
    },
    { bypassCSP: true },
  );
}

// What is found may lie deeper than what is drawn: its thread is opened.
export async function checkWhatIsFoundIsOpened(browser) {
  await onFake(browser, "#timeline?recording=deep", async (page) => {
    await page.getByRole("button", { name: "Collapse python (9)" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("call 25");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "fewer levels of thread 92" }).waitFor();
  });
}

// What is on screen in ms, as the address keeps it.
async function seen(page, from, to) {
  await page.waitForFunction(
    (wanted) => {
      const [, ...times] = /timeline\.at=(\d+)-(\d+)/.exec(location.hash) ?? [];
      return times.length > 0 && times.every((time, at) => Math.abs(time / 1e6 - wanted[at]) < 4);
    },
    [from, to],
    { timeout: 20_000 },
  );
}

export async function checkTheMouseMovesWhatIsSeen(browser) {
  await onFake(browser, "#timeline", async (page) => {
    const { x, y, width } = await page.locator(surface).boundingBox();
    const middle = y + (await topOf(page, "thread 70")) + 10;
    await page.mouse.move(x + 0.14 * width, middle);
    assert.match(await page.locator(".tl-card").innerText(), /^step 1 app\s+80\.0 ms\s+at 100 ms in thread 70$/);
    // The wheel zooms about the place of the pointer.
    await page.mouse.move(x + 0.5 * width, middle);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await seen(page, 250, 750);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, Math.round(0.2 * width));
    await page.keyboard.up("Shift");
    await seen(page, 350, 850);
    await page.mouse.down();
    await page.mouse.move(x + 0.7 * width, middle, { steps: 4 });
    await page.mouse.up();
    await seen(page, 250, 750);
    // The frame in the strip follows the mouse: its middle was at the half.
    const strip = await page.locator(".tl-minimap").first().boundingBox();
    await page.mouse.move(strip.x + 0.5 * strip.width, strip.y + 30);
    await page.mouse.down();
    await page.mouse.move(strip.x + 0.6 * strip.width, strip.y + 30, { steps: 4 });
    await page.mouse.up();
    await seen(page, 350, 850);
    // 480 ms lie in the call of 400 to 480 ms, on whose middle the pointer is.
    await page.mouse.dblclick(x + ((440 - 350) / 500) * width, middle);
    const [, from, to] = /timeline\.at=(\d+)-(\d+)/.exec(await addressWithin(page, 300e6)).map(Number);
    assert.ok(from <= 400e6 && to >= 480e6 && to - from < 300e6, `${from} to ${to}`);
  });
}

// The address, when less than this is on screen.
async function addressWithin(page, span) {
  await page.waitForFunction((most) => {
    const [, from, to] = /timeline\.at=(\d+)-(\d+)/.exec(location.hash) ?? [];
    return to - from < most;
  }, span);
  return page.url();
}
