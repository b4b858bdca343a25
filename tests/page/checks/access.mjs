// SPDX-License-Identifier: MIT
// What is only there at times is as accessible as the views: help, details, refusals, and the door before the page.
import assert from "node:assert/strict";
import { onGolden } from "../golden_pages.mjs";
import { accessProblems, answered, openPage, settled } from "../kit.mjs";
import { realPage } from "../real.mjs";

async function inBoth(browser, hash, body) {
  for (const dark of [false, true]) {
    await onGolden(browser, ["small"], hash, body, { dark, bypassCSP: true });
  }
}

export async function checkHelpAndDetailsAreAccessible(browser) {
  await inBoth(browser, "#timeline", async (page) => {
    await settled(page);
    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    assert.deepEqual(await accessProblems(page), [], "help");
    await page.keyboard.press("Escape");
    await page.keyboard.press(".");
    await page.locator(".tl-details .fields").waitFor();
    assert.deepEqual(await accessProblems(page), [], "details");
  });
}

export async function checkRefusalsAreAccessible(browser) {
  await inBoth(browser, "#flame?where=no_such_column", async (page) => {
    await page.locator(".state.failed").first().waitFor();
    assert.deepEqual(await accessProblems(page), [], "a view that was refused");
    await page.getByLabel("events where").fill("neither_is_this");
    await page.keyboard.press("Enter");
    await page.locator(".where-field [role=alert]").waitFor();
    assert.deepEqual(await accessProblems(page), [], "a condition that was refused");
  });
  await inBoth(browser, "#overview?recording=nothing", async (page) => {
    await page.locator(".state").first().waitFor();
    assert.deepEqual(await accessProblems(page), [], "no such recording");
  });
}

export async function checkTheDoorIsAccessible(browser) {
  const { address } = await realPage();
  for (const dark of [false, true]) {
    const page = await openPage(browser, new URL(address).origin, { dark, bypassCSP: true });
    try {
      await page.getByRole("textbox").first().waitFor();
      assert.deepEqual(await accessProblems(page), [], "the page that asks for the token");
      await page.goto(address);
      await answered(page);
      await page.evaluate(() => localStorage.clear());
      await page.reload();
      await page.getByText("open the address that fathom printed").first().waitFor();
      assert.deepEqual(await accessProblems(page), [], "a page without its key");
    } finally {
      await page.context().close();
    }
  }
}
