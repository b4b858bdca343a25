// SPDX-License-Identifier: MIT
// Runs the checks of checks/*.mjs, each an exported function whose name begins with `check`, in one browser.
// usage: node main.mjs [PART] [--update]
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { openBrowser, Skipped } from "./kit.mjs";
import { closeReal } from "./real.mjs";

const limitMs = 300_000;
const sideBySide = 2; // they wait most of the time
const part = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "";
const folder = join(fileURLToPath(new URL(".", import.meta.url)), "checks");

function within(promise, ms) {
  let timer;
  const late = new Promise((_done, fail) => {
    timer = setTimeout(() => fail(new Error(`not done after ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const counts = { passed: 0, failed: 0, skipped: 0 };

async function runOne(name, check, browser) {
  const begin = Date.now();
  try {
    await within(check(browser), limitMs);
    counts.passed += 1;
    console.log(`page: ${name} ok, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  } catch (error) {
    if (error instanceof Skipped) {
      counts.skipped += 1;
      console.log(`page: ${name} skipped: ${error.message}`);
    } else {
      counts.failed += 1;
      console.log(`page: ${name} FAILED: ${error.stack ?? error}`);
    }
  }
}

async function chosen() {
  const all = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".mjs")).sort()) {
    const module = await import(join(folder, file));
    for (const [name, check] of Object.entries(module)) {
      const title = `${file.replace(".mjs", "")}.${name}`;
      if (name.startsWith("check") && title.includes(part)) all.push([title, check]);
    }
  }
  return all;
}

const browser = await openBrowser();
try {
  const left = await chosen();
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) await runOne(...next, browser);
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
} finally {
  await browser.close();
  await closeReal();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
