// SPDX-License-Identifier: MIT
// What views say where there is little, or too much: what to do, and not more than fits.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onGolden } from "../golden_pages.mjs";
import { accessProblems, answered, asked, openPage } from "../kit.mjs";
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

// A recording that ended early, whose program waited for another, and used a file with a long name in two ways.
function oddRun() {
  const folder = join(process.env.FATHOM_FOLDER, "states");
  const path = join(folder, "odd.fathom");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const call = (at, name, category, more = "") => `event 1/1 ${at} +1000000 posix ${name} category=${category} ${more}`;
  const file = `file=/data/${"a-long-folder/".repeat(6)}file fd=3 size=4096 bytes=4096 ret=4096`;
  const calls = [0, 1, 2, 3, 4, 5].flatMap((at) => [
    call(at * 4_000_000, "pread", "read", `${file} offset=${at * 4096}`),
    call(at * 4_000_000 + 2_000_000, "pwrite", "write", `${file} offset=${(at * 7919) % 40960}`),
  ]);
  const lines = [
    "fathom recording 1",
    'run host=a start=0 duration=100000000 exit=0 command="odd" partial="the disk was full"',
    "process 1 name=odd start=0 end=100000000 exit=0",
    "thread 1/1 start=0 end=100000000",
    ...calls,
    call(30_000_000, "fork", "process"),
    call(40_000_000, "waitpid", "wait"),
    call(50_000_000, "aio_suspend", "wait"),
  ];
  writeFileSync(join(folder, "odd.txt"), `${lines.join("\n")}\n`);
  const words = ["import", join(folder, "odd.txt"), "-o", path];
  const done = spawnSync(join(process.env.FATHOM_BUILD, "fathom"), words, { encoding: "utf8", timeout: 120_000 });
  if (done.status !== 0) throw new Error(done.stderr);
  return path;
}

async function onOdd(browser, hash, body) {
  const { address } = await realPage(oddRun);
  const page = await openPage(browser, `${address}${hash}`);
  try {
    await answered(page);
    await body(page);
  } finally {
    await page.context().close();
  }
}

export async function checkAPartialRecordingSaysWhy(browser) {
  await onOdd(browser, "#overview", async (page) => {
    assert.match(await page.locator(".run-card").innerText(), /partial: the disk was full/);
  });
}

// Making processes and waiting for them is no I/O; waiting for what was asked for asynchronously is.
export async function checkTheHeatMapIsOfIo(browser) {
  await onOdd(browser, "#io?io.what=calls", async (page) => {
    const { cells } = await asked(page, "/heatmap?rows=thread&what=calls&category=all&bins=10");
    assert.equal(
      cells.flat().reduce((sum, cell) => sum + cell, 0),
      13,
    );
    const [scrolled, seen] = await page.$eval(".data-table .scroll", (box) => [box.scrollWidth, box.clientWidth]);
    assert.ok(scrolled <= seen, `the table of files has ${scrolled} pixels for ${seen}`);
  });
}

// Views of whole recordings do not claim to be of the selection.
export async function checkWholeRecordingsShowNoSelection(browser) {
  await onGolden(browser, ["small", "training"], "#flame?layer=stdio", async (page) => {
    await answered(page);
    assert.equal(await page.locator(".chip").count(), 1);
    for (const key of ["8", "9"]) {
      await page.keyboard.press(key);
      await page.getByText("is about whole recordings").waitFor();
      assert.equal(await page.locator(".chip").count(), 0);
    }
    await page.keyboard.press("?");
    const keys = await page.locator("dialog").innerText();
    assert.ok(keys.includes("Show SQL") && !keys.includes("Show Fleet"), keys);
  });
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
