// SPDX-License-Identifier: MIT
// The frame around the views: servers that go and come back, refusals, recordings that grow, light and dark.
import assert from "node:assert/strict";
import { FakeServer } from "../fake/server.mjs";
import { dist, openPage, settled } from "../kit.mjs";

async function withServer(browser, prepare, body) {
  const server = new FakeServer(dist);
  prepare(server);
  const address = await server.start();
  const page = await openPage(browser, `${address}#timeline`);
  try {
    await body(page, server, address);
  } finally {
    await page.context().close();
    await server.stop().catch(() => {});
  }
}

export async function checkARestartIsSurvived(browser) {
  await withServer(
    browser,
    () => {},
    async (page, server) => {
      await settled(page);
      const { port } = server;
      await server.stop();
      // Until it needs boxes that it has not got yet: only a question finds out.
      for (let i = 0; i < 8; i++) await page.keyboard.press("w");
      await page.waitForSelector(".banner");
      assert.match(await page.locator(".banner").innerText(), /Connection lost/);
      assert.ok((await page.locator(".tl-name").count()) > 3, "what was there stays");
      await server.start(port);
      await page.waitForFunction(() => !document.querySelector(".banner"), undefined, { timeout: 30_000 });
      await settled(page);
    },
  );
}

export async function checkRefusalsAreTold(browser) {
  await withServer(
    browser,
    (server) => {
      server.refuse = (path) => (path === "/tracks" ? { status: 413, error: "too many tracks; select a host" } : null);
    },
    async (page, server) => {
      await page.waitForSelector(".state.failed");
      assert.match(await page.locator(".state.failed").innerText(), /too many tracks; select a host/);
      server.refuse = null;
      await page.getByRole("button", { name: "Try again" }).click();
      await settled(page);
    },
  );
}

export async function checkAPageWithoutRecordingsSaysSo(browser) {
  await withServer(
    browser,
    (server) => {
      server.recordings = [];
    },
    async (page) => {
      await page.waitForSelector(".state");
      assert.match(await page.locator(".state").innerText(), /no recording/);
    },
  );
}

export async function checkARecordingGrows(browser) {
  await withServer(
    browser,
    (server) => {
      server.recordings[0].state = "running";
      server.recordings[0].wall = 500_000_000;
    },
    async (page, server) => {
      await settled(page);
      assert.match(await page.locator("header").innerText(), /500 ms.*recording now/s);
      const recording = server.recordings[0];
      recording.wall = 800_000_000;
      recording.events.push({ ...recording.events[0] });
      server.tell(recording);
      await page.waitForFunction(() => document.querySelector(".tl-toolbar").textContent.includes("800 ms on screen"));
      // The rows of `events`, whatever else is counted.
      const count = recording.events.length.toLocaleString("en");
      await page.waitForFunction(
        (n) => document.querySelector("header").textContent.includes(`800 ms, ${n} events`),
        count,
      );
      recording.state = "complete";
      server.tell(recording);
      await page.waitForFunction(() => !document.querySelector("header").textContent.includes("recording now"));
    },
  );
}

export async function checkLightAndDark(browser) {
  await withServer(
    browser,
    () => {},
    async (page) => {
      await settled(page);
      const becomes = (colour) =>
        page.waitForFunction((wanted) => getComputedStyle(document.body).backgroundColor === wanted, colour);
      await becomes("rgb(255, 255, 255)");
      await page.emulateMedia({ colorScheme: "dark" });
      await becomes("rgb(20, 23, 28)");
      await page.getByLabel("Colours").selectOption("light");
      await becomes("rgb(255, 255, 255)");
      await page.reload();
      await settled(page);
      await becomes("rgb(255, 255, 255)"); // the choice is kept
      assert.deepEqual(page.problems, []);
    },
  );
}

export async function checkEverythingIsReachedByKeys(browser) {
  await withServer(
    browser,
    () => {},
    async (page) => {
      await settled(page);
      const seen = new Set();
      for (let step = 0; step < 60; ++step) {
        await page.keyboard.press("Tab");
        seen.add(
          await page.evaluate(() => {
            const on = document.activeElement;
            const { outlineStyle, outlineWidth } = getComputedStyle(on);
            const visible = outlineStyle !== "none" && outlineWidth !== "0px";
            return on === document.body
              ? ""
              : `${on.getAttribute("aria-label") ?? on.textContent.trim()}${visible ? "" : " WITHOUT FOCUS"}`;
          }),
        );
        if (seen.has("")) break; // once around
      }
      const words = [...seen].join("\n");
      for (const wanted of [
        "Skip to the view",
        "Search",
        "Colours",
        "Help",
        "Zoom in",
        "Save",
        "Pin thread 70",
        "Timeline of",
      ]) {
        assert.ok(words.includes(wanted), `${wanted} is not reached:\n${words}`);
      }
      assert.doesNotMatch(words, /WITHOUT FOCUS/);
    },
  );
}
