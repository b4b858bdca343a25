// SPDX-License-Identifier: MIT
// What views say where there is little, or too much: what to do, and not more than fits.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { answered, onGolden } from "../golden_pages.mjs";
import { accessProblems, openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const hints = {
  flame: /fathom run|larger part/,
  io: /fathom run .*--layers/,
  gpu: /fathom run --layers \+cuda,gpu/,
  explain: /fathom run --layers/,
  resources: /fathom run/,
  compare: /fathom view BEFORE AFTER/,
  timeline: /fathom info/,
};

export async function checkEmptyViewsSayWhatToDo(browser) {
  await onGolden(browser, ["empty"], "#overview", async (page, _path, address) => {
    for (const [view, hint] of Object.entries(hints)) {
      await page.goto(`${address.split("?")[0]}#${view}`);
      await page.locator("main .state").first().waitFor();
      await page.waitForFunction(() => !document.querySelector(".spinner"));
      const said = await page.locator("main .state").allInnerTexts();
      assert.equal(said.length, 1, `${view} says it once: ${said.join(" | ")}`);
      assert.match(said[0], hint, view);
    }
    assert.deepEqual(
      page.problems.filter((problem) => !problem.includes("status of 4")),
      [],
    );
  });
}

// A recording of a command of four thousand letters.
function longCommand() {
  const folder = join(process.env.FATHOM_FOLDER, "states");
  const path = join(folder, "long.fathom");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const words = ["run", "-q", "-o", path, "--", "true", ...Array(400).fill("argument-")];
  const done = spawnSync(join(process.env.FATHOM_BUILD, "fathom"), words, { encoding: "utf8", timeout: 120_000 });
  if (done.status !== 0) throw new Error(done.stderr);
  return path;
}

export async function checkALongCommandIsClamped(browser) {
  const { address } = await realPage(longCommand);
  const page = await openPage(browser, `${address}#overview`, { bypassCSP: true });
  try {
    await answered(page);
    const card = page.locator(".run-card");
    const before = (await card.boundingBox()).height;
    assert.ok(before < 260, `${before} pixels`);
    await card.getByRole("button", { name: "Show all" }).click();
    await card.getByRole("button", { name: "Show less" }).waitFor();
    assert.ok((await card.boundingBox()).height > before + 100);
    assert.deepEqual(await accessProblems(page), []);
  } finally {
    await page.context().close();
  }
}

// At 1280 pixels the frame is one line, and numbers of a table are on screen.
export async function checkNothingIsCutAt1280(browser) {
  await onGolden(browser, ["small", "training"], "#io", async (page) => {
    await answered(page);
    assert.ok((await page.locator("header").boundingBox()).height < 48);
    const sizes = await page.$eval(".data-table .scroll", ({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    assert.ok(sizes[0] <= sizes[1], `${sizes[0]} of ${sizes[1]} pixels`);
  });
}

// Twenty thousand rows: the page asks for as many as it can show at once, and says that there are more.
export async function checkManyRowsAreLimited(browser) {
  const question = "SELECT range AS ts, range % 7 AS n FROM range(20000)";
  await onGolden(browser, ["small"], `#sql?sql.query=${encodeURIComponent(question)}`, async (page) => {
    await answered(page);
    assert.match(await page.locator("p.note[role=status]").innerText(), /^10,000 rows .*there are more/);
    await page.locator("figcaption", { hasText: "Chart" }).waitFor();
    assert.deepEqual(page.problems, []);
  });
}
