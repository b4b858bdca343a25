// SPDX-License-Identifier: MIT
// Many windows of one browser. It has six connections to a server: streams must not take them all.
import assert from "node:assert/strict";
import { FakeServer } from "../fake/server.mjs";
import { dist, hide, openPage } from "../kit.mjs";

const manyTabs = 7; // one more than a browser has connections

async function withRunning(browser, body) {
  const server = new FakeServer(dist);
  const [recording] = server.recordings;
  Object.assign(recording, { state: "running", wall: 500_000_000 });
  const address = `${await server.start()}#sql`;
  const page = await openPage(browser, "about:blank");
  try {
    await body({ context: page.context(), server, recording, address });
  } finally {
    await page.context().close();
    await server.stop();
  }
}

async function until(what, words) {
  for (const end = Date.now() + 60_000; !what();) {
    assert.ok(Date.now() < end, words);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const says = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector("header")?.textContent.includes(wanted), text);

async function opened(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  await says(page, "recording now");
  return page;
}

// All are seen at once: one has the stream, and tells the others.
export async function checkManyTabsShareAStream(browser) {
  await withRunning(browser, async ({ context, server, recording, address }) => {
    const pages = [];
    for (let at = 0; at < manyTabs; ++at) pages.push(await opened(context, address));
    assert.equal(server.streams.size, 1);
    recording.wall = 800_000_000;
    server.tell(recording);
    for (const page of pages) await says(page, "800 ms");
    // Whoever has it may go: another takes it.
    await pages.shift().close();
    await until(
      () => server.streams.size === 1 && server.asked.filter((path) => path.includes("/changes")).length === 2,
    );
    recording.wall = 900_000_000;
    server.tell(recording);
    for (const page of pages) await says(page, "900 ms");
  });
}

export async function checkATabThatNobodySeesHoldsNoStream(browser) {
  await withRunning(browser, async ({ context, server, recording, address }) => {
    const page = await opened(context, address);
    await until(() => server.streams.size === 1, "it follows the recording");
    await hide(page, true);
    await until(() => server.streams.size === 0, "it lets go of the stream");
    recording.wall = 700_000_000;
    server.tell(recording);
    await hide(page, false);
    await says(page, "700 ms");
    await hide(page, true);
    recording.state = "complete";
    await until(() => server.streams.size === 0);
    await hide(page, false);
    await page.waitForFunction(() => !document.querySelector("header").textContent.includes("recording now"));
  });
}
