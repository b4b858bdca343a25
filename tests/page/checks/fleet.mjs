// SPDX-License-Identifier: MIT
// The page of `fathom server`: its jobs, and what arrives while somebody looks.
import assert from "node:assert/strict";
import { FleetServer } from "../fleet_server.mjs";
import { tableOf } from "../golden_pages.mjs";
import { accessProblems, answered, hide, openPage } from "../kit.mjs";

const hostile = "<img src=x onerror=alert(1)>";

export async function checkJobsAndWhatArrives(browser) {
  const server = new FleetServer();
  try {
    const address = await server.start();
    await server.post("/jobs", { name: "nightly", info: hostile });
    const rows = [{ node: "main", exec: "app", event: "cycles", count: 1234 }];
    await server.post("/jobs/nightly/profile", { client: "node7", seq: 1, rows });
    const page = await openPage(browser, `${address}#fleet`, { bypassCSP: true });
    await answered(page);
    assert.deepEqual(await tableOf(page, "Jobs"), [
      ["job", "info", "benchmarks"],
      ["nightly", hostile, "0"],
    ]);
    await page.locator("tr.leads").filter({ hasText: "nightly" }).click();
    assert.deepEqual((await tableOf(page, "Profile"))[1], ["main", "app", "cycles", "1,234"]);
    await page.getByText("connected", { exact: true }).waitFor();
    await server.post("/jobs/nightly/profile", { client: "node8", seq: 1, rows });
    const agents = page.getByRole("region", { name: "Agents" });
    await agents.getByText("node8", { exact: true }).waitFor();
    // node7 sent before the page was opened; what either sends is counted once.
    for (const node of ["node7", "node8"]) {
      const [, job, batches, last, state] = (await tableOf(page, "Agents")).find(([name]) => name === node);
      assert.deepEqual([job, batches, state], ["nightly", "1", "alive"], node);
      assert.ok(Math.abs(Date.parse(`${last.replace(" ", "T")}Z`) - Date.now()) < 60_000, last);
    }
    // While nobody looks it holds no stream; then it catches up.
    await hide(page, true);
    await server.post("/jobs", { name: "later", info: "" });
    await hide(page, false);
    await page.getByText("later", { exact: true }).waitFor();
    await page.getByText(/^connected/).waitFor();
    assert.deepEqual(await accessProblems(page), []);
    for (const width of [1280, 2560]) {
      await page.setViewportSize({ width, height: 1000 });
      const main = await page.$eval("main", ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      assert.ok(main <= 0, `${main} pixels too wide at ${width}`);
    }
    // A server without trends says 404, which the browser notes; the page goes on without marks.
    assert.deepEqual(
      page.problems.filter((problem) => !problem.includes("404")),
      [],
    );
    await page.context().close();
  } finally {
    await server.stop();
  }
}

// The server's answer is made up: what it finds is tested where it is found.
export async function checkAlertsAreMarked(browser) {
  const server = new FleetServer();
  try {
    const address = await server.start();
    await server.post("/jobs", { name: "nightly", info: "" });
    const record = (wall) => ({
      command: ["sort", "a big file"],
      runs: [{ exit: 0, wall, user: wall, system: 0, max_rss: 1 }],
    });
    const records = [1, 1, 1, 2].map(record);
    await server.post("/jobs/nightly/benchmarks", { client: "node7", seq: 1, records });
    const page = await openPage(browser, "about:blank");
    const change = { benchmark: "sort 'a big file'", metric: "wall", before: 1, after: 2 };
    const body = JSON.stringify({ alerts: [{ index: 3, changes: [change] }] });
    await page.route("**/jobs/nightly/trend", (route) => route.fulfill({ contentType: "application/json", body }));
    await page.goto(`${address}#fleet?fleet.job=nightly`);
    await page.locator(".sparkline .alerts li").first().waitFor();
    assert.deepEqual(await page.locator(".alerts li").allInnerTexts(), ["record 4: 1.00 s became 2.00 s"]);
    assert.equal(await page.locator(".sparkline line.alert").count(), 1);
    await page.getByLabel("Metric").selectOption("user");
    await page.waitForFunction(() => document.querySelector(".alerts") === null);
    await page.context().close();
  } finally {
    await server.stop();
  }
}
