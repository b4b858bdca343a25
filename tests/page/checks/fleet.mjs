// SPDX-License-Identifier: MIT
// The page of `fathom server`: its jobs, and what arrives while somebody looks.
import assert from "node:assert/strict";
import { FleetServer } from "../fleet_server.mjs";
import { answered, tableOf } from "../golden_pages.mjs";
import { accessProblems, openPage } from "../kit.mjs";

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
    await page.getByRole("region", { name: "Agents" }).waitFor();
    const [, agent] = await tableOf(page, "Agents");
    assert.deepEqual(agent.slice(0, 4), ["node8", "nightly", "1", "1"]);
    assert.deepEqual(await accessProblems(page), []);
    assert.deepEqual(page.problems, []);
    await page.context().close();
  } finally {
    await server.stop();
  }
}
