// SPDX-License-Identifier: MIT
// What the page shows while an answer takes its time: of a recording that grows meanwhile, of another selection, of another
// recording.
import assert from "node:assert/strict";
import { FakeServer } from "../fake/server.mjs";
import { dist, openPage, settled } from "../kit.mjs";

async function onServer(browser, hash, prepare, body) {
  const server = new FakeServer(dist);
  prepare(server);
  const address = await server.start();
  const page = await openPage(browser, `${address}${hash}`);
  try {
    await body(page, server);
  } finally {
    await page.context().close();
    await server.stop().catch(() => {});
  }
}

// Answers of these routes wait, in this list, until they are let go.
function held(server, ...routes) {
  const waiting = [];
  server.hold = (path) => (routes.includes(path) ? new Promise((go) => waiting.push(go)) : null);
  return waiting;
}

function letGo(server, waiting) {
  server.hold = null;
  for (const go of waiting.splice(0)) go();
}

async function until(is, what) {
  for (let at = 0; !is(); ++at) {
    assert.ok(at < 3000, what);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const words = (page, text) => page.locator(".words li", { hasText: text }).waitFor();

// A recording grows each second: an answer that takes longer is waited for, and asked once more.
export async function checkASlowAnswerOfALiveRecordingAppears(browser) {
  let waiting = [];
  const prepare = (server) => {
    server.recordings[0].state = "running";
    waiting = held(server, "/report/overview");
  };
  await onServer(browser, "#overview", prepare, async (page, server) => {
    const asked = () => server.asked.filter((path) => path.includes("/report/overview")).length;
    const recording = server.recordings[0];
    await until(() => waiting.length === 1, "the overview is asked for");
    for (let second = 0; second < 3; ++second) {
      recording.events.push({ ...recording.events[0] });
      server.tell(recording);
      const count = recording.events.length.toLocaleString("en");
      await page.waitForFunction((n) => document.querySelector("header").textContent.includes(`${n} events`), count);
    }
    assert.equal(asked(), 1, "what is under way is waited for");
    waiting.shift()();
    await words(page, "small.fathom has");
    await until(() => waiting.length === 1, "what has grown meanwhile is asked for");
    assert.equal(asked(), 2);
    letGo(server, waiting);
    await words(page, `has ${recording.events.length} events`);
  });
}

// The server may have read its rows before the growth that it tells of, and nothing more may come.
export async function checkAGrowthIsAskedForAgain(browser) {
  const live = (server) => (server.recordings[0].state = "running");
  await onServer(browser, "#overview", live, async (page, server) => {
    const recording = server.recordings[0];
    const asked = () => server.asked.filter((path) => path.includes("/report/overview")).length;
    await words(page, "small.fathom has");
    await until(() => server.streams.size === 1, "the recording is followed");
    const first = asked();
    server.tell(recording);
    const told = { ...recording, events: [...recording.events] };
    recording.events.push({ ...recording.events[0] }); // only now there is what was told
    server.tell(told);
    await words(page, `has ${recording.events.length} events`);
    assert.ok(asked() > first);
  });
}

const choose = (page, name) => page.getByLabel("Recording", { exact: true }).selectOption({ label: name });

// No number of one recording stands below the name of another.
export async function checkAnotherRecordingShowsNothingOfTheOneBefore(browser) {
  const nothing = () => {};
  await onServer(browser, "#overview", nothing, async (page, server) => {
    await words(page, "small.fathom has");
    await page.locator("figure.split").waitFor();
    const waiting = held(server, "/report/overview", "/report/time", "/query");
    await choose(page, "deep.fathom");
    await page.getByText("Asking for the overview").waitFor();
    const main = await page.locator("main").innerText();
    assert.match(main, /Recording\s+deep\.fathom/);
    assert.match(main, /Events\s+being counted/);
    assert.doesNotMatch(main, /small\.fathom|Threads' time/);
    letGo(server, waiting);
    await words(page, "deep.fathom has");
    await page.locator(".run-card", { hasText: `Events${server.recordings[2].events.length}` }).waitFor();
  });
}

// How much the parts of the view that match are seen.
const opacity = (page, selector) => page.$eval(selector, (part) => Number(getComputedStyle(part).opacity));

async function fades(page, selector) {
  await page.waitForFunction((of) => Number(getComputedStyle(document.querySelector(of)).opacity) < 0.5, selector);
}

// What was asked of another selection is faded until the answer is there; quick answers do not flicker.
export async function checkAnotherSelectionFadesTheAnswerBefore(browser) {
  const live = (server) => (server.recordings[0].state = "running");
  await onServer(browser, "#overview", live, async (page, server) => {
    const [text, split] = ["section[aria-label='In words']", "figure.split"];
    await words(page, "small.fathom has");
    await page.locator(split).waitFor();
    const first = held(server, "/report/overview");
    await page.evaluate(() => (location.hash = "#overview?layer=app"));
    await fades(page, text);
    assert.equal(await page.$eval(text, (part) => getComputedStyle(part).transitionDelay), "0.15s");
    letGo(server, first);
    await page.waitForFunction(() => !document.querySelector(".answer.other"));
    assert.equal(await opacity(page, text), 1);

    // A part with a question of its own.
    const second = held(server, "/report/time");
    await page.evaluate(() => (location.hash = "#overview?layer=posix"));
    await fades(page, split);
    letGo(server, second);
    await page.waitForFunction(() => !document.querySelector(".answer.other"));

    // A recording that has grown is no other question.
    const third = held(server, "/report/overview");
    server.recordings[0].events.push({ ...server.recordings[0].events[0] });
    server.tell(server.recordings[0]);
    await until(() => third.length === 1, "it is asked again");
    await page.waitForSelector(".answer[aria-busy=true] .words");
    assert.equal(await page.locator(".answer.other").count(), 0);
    assert.equal(await opacity(page, text), 1);
    letGo(server, third);
  });
}

export async function checkTheTimelineOfAnotherRecordingSaysThatItWaits(browser) {
  const nothing = () => {};
  await onServer(browser, "#timeline", nothing, async (page, server) => {
    await settled(page);
    await page.locator(".tl-name", { hasText: "train (7)" }).waitFor();
    const tracks = held(server, "/tracks");
    await choose(page, "deep.fathom");
    await page.getByText("Reading the tracks").waitFor();
    assert.equal(await page.locator(".tl-name").count(), 0);
    await until(() => tracks.length === 1, "its tracks are asked for");
    const boxes = held(server, "/timeline");
    tracks.shift()();
    await page.locator(".tl-name", { hasText: "python (9)" }).waitFor();
    await page.getByText("Reading events").waitFor();
    letGo(server, boxes);
    await settled(page);
    assert.equal(await page.getByText("Reading events").count(), 0);
    assert.deepEqual(page.problems, []);
  });
}

// A growth each second must not take away what somebody looks at: the zoom, the box that was chosen, the one pointed at.
export async function checkAFlameGraphKeepsItsZoomWhileItGrows(browser) {
  const live = (server) => (server.recordings[0].state = "running");
  await onServer(browser, "#flame?flame.weight=time", live, async (page, server) => {
    const canvas = page.locator(".flame-picture canvas");
    await canvas.focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const all = page.getByRole("button", { name: "Show all" });
    await all.waitFor();
    const card = page.locator(".flame-picture .card");
    assert.match(await card.innerText(), /work/);
    const recording = server.recordings[0];
    for (let second = 0; second < 2; ++second) {
      recording.events.push({ ...recording.events[0] });
      server.tell(recording);
      await card.getByText(`${recording.events.length.toLocaleString("en")} calls`).waitFor();
      assert.equal(await all.count(), 1, "it is zoomed as before");
      assert.match(await card.innerText(), /work/, "the same box is chosen");
    }
    await page.reload();
    await all.waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("late");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#search").value === "late");
    assert.deepEqual(page.problems, []);
  });
}

// Plain http of another machine: the browser has no clipboard.
export async function checkPandasCanBeCopiedByHand(browser) {
  const nothing = () => {};
  await onServer(browser, "#sql", nothing, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await page.getByRole("textbox", { name: "SQL" }).fill("FROM events");
    await page.getByRole("button", { name: "Copy as pandas" }).click();
    await page.getByText("press Ctrl+C").waitFor();
    const chosen = await page.evaluate(() => getSelection().toString());
    assert.match(chosen, /FROM events/);
  });
}
