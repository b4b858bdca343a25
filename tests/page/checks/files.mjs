// SPDX-License-Identifier: MIT
// What the page hands over: files for other tools, and the same question for Python.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onGolden, sql } from "../golden_pages.mjs";
import { answered, settled, Skipped } from "../kit.mjs";

const top = fileURLToPath(new URL("../../../", import.meta.url));

async function saved(page, link) {
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

export async function checkFilesForOtherTools(browser) {
  await onGolden(browser, ["training"], "#timeline", async (page, path) => {
    await settled(page);
    await page.getByText("Save", { exact: true }).click();
    assert.match(await page.locator(".menu-items").innerText(), /send nothing/);
    const perfetto = await saved(page, page.getByRole("link", { name: "Save for Perfetto" }));
    // A message of field 1 (TracePacket) is how a trace begins.
    assert.equal(perfetto.bytes[0], 0x0a);
    assert.ok(perfetto.bytes.includes("forward"), perfetto.name);
    const flame = JSON.parse((await saved(page, page.getByRole("link", { name: "Save for speedscope" }))).bytes);
    assert.match(flame.$schema, /speedscope/);
    const frames = flame.shared.frames.map(({ name }) => name);
    const names = sql(path, "SELECT DISTINCT name FROM events WHERE layer = 'app'").map(({ name }) => name);
    for (const name of names) assert.ok(frames.includes(name), name);
  });
}

// tests/page/run has fetched it, or says why not.
function pythonWithPandas() {
  const { FATHOM_PANDAS: python, FATHOM_NO_PANDAS: reason } = process.env;
  if (python) return python;
  if (process.env.CI || process.env.FATHOM_FULL) throw new Error(reason);
  throw new Skipped(reason);
}

export async function checkTheSameQuestionForPandas(browser) {
  const python = pythonWithPandas();
  const question = 'SELECT name, count(*) AS "n"\nFROM events GROUP BY name ORDER BY n DESC, name';
  await onGolden(browser, ["small"], `#sql?sql.query=${encodeURIComponent(question)}`, async (page, path) => {
    await answered(page);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy as pandas" }).click();
    await page.getByText("copied").waitFor();
    const program = `${await page.evaluate(() => navigator.clipboard.readText())}\nprint(frame.to_csv(index=False))`;
    const env = { ...process.env, PYTHONPATH: join(top, "python"), PYTHONDONTWRITEBYTECODE: "1" };
    const done = spawnSync(python, ["-c", program], { cwd: "/", env, encoding: "utf8", timeout: 120_000 });
    assert.equal(done.status, 0, done.stderr);
    const wanted = sql(path, question).map(({ name, n }) => `${name},${n}`);
    assert.deepEqual(done.stdout.trim().split("\n"), ["name,n", ...wanted]);
  });
}

export async function checkExamplesCanBeAsked(browser) {
  await onGolden(browser, ["small"], "#sql", async (page) => {
    await answered(page);
    const examples = await page
      .getByLabel("Examples")
      .locator("option")
      .evaluateAll((all) => all.map((each) => each.value).filter(Boolean));
    assert.ok(examples.length > 2);
    for (const example of examples) {
      await page.getByRole("textbox", { name: "SQL" }).fill(example);
      await page.getByRole("button", { name: "Run" }).click();
      await page.waitForFunction(
        (wanted) => location.hash.includes(wanted),
        `${new URLSearchParams({ x: example })}`.slice(2, 40),
      );
      await answered(page);
      assert.equal(await page.locator(".state.failed").count(), 0, example);
    }
  });
}
