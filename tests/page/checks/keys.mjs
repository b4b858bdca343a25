// SPDX-License-Identifier: MIT
// The page without a mouse: events, ranges of time, and everything that can be pressed.
import assert from "node:assert/strict";
import { onGolden, sql } from "../golden_pages.mjs";
import { answered, settled } from "../kit.mjs";

export async function checkARangeIsSelectedByKeys(browser) {
  await onGolden(browser, ["small"], "#timeline", async (page, path) => {
    await settled(page);
    const chosen = async () => {
      await page.locator(".tl-details .fields").waitFor();
      return page.locator(".tl-details h2").innerText();
    };
    await page.keyboard.press(".");
    assert.equal(await chosen(), "step", "the first event on screen");
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => document.querySelector(".tl-details h2").textContent !== "step");
    const inside = await chosen();
    const facts = sql(path, `SELECT ts, dur FROM events WHERE name = '${inside}' AND pid = 10 AND tid = 10`);
    await page.keyboard.press("[");
    await page.keyboard.press("]");
    await page.waitForFunction(() => /from=\d+&to=\d+/.test(location.hash));
    const [, from, to] = /from=(\d+)&to=(\d+)/.exec(page.url()).map(Number);
    assert.ok(
      facts.some(({ ts, dur }) => ts === from && ts + dur === to),
      `${inside} from ${from} to ${to}`,
    );
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction(() => document.querySelector(".tl-details h2").textContent === "step");
    await page.keyboard.press("Escape");
    await page.keyboard.press("x");
    await page.keyboard.press("[");
    await page.waitForFunction(() => location.hash.includes("from=0"));
    await page.keyboard.press("?");
    const help = await page.locator("dialog[open]").innerText();
    for (const words of ["Begin the selected range", "in the line below", "condition in SQL"]) {
      assert.ok(help.includes(words), words);
    }
  });
}

// What is seen in a view and can be pressed or filled in, and what of it Tab has led to with a mark around it.
function mark(page) {
  return page.evaluate(() => {
    const on = document.activeElement;
    if (on === document.body || on === null) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(on);
    const visible = outlineStyle !== "none" && outlineWidth !== "0px";
    on.setAttribute("data-reached", visible ? "yes" : "without a mark");
    return true;
  });
}

function missed(page) {
  return page.$$eval(
    'main :is(a[href], button, input, select, textarea, summary, [tabindex="0"]):not([data-reached="yes"])',
    (all) =>
      all
        .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex >= 0)
        .filter((each) => each.type !== "radio" || each.checked)
        .map((each) => `${each.dataset.reached ?? "never"}: ${each.outerHTML.slice(0, 120)}`),
  );
}

const views = ["overview", "timeline", "flame", "io", "gpu", "explain", "resources", "compare", "sql"];

export async function checkTabLeadsThroughEveryView(browser) {
  await onGolden(browser, ["small", "training"], "#overview", async (page, _path, address) => {
    for (const view of views) {
      await page.goto(`${address.split("?")[0]}#${view}`);
      if (view === "timeline") await settled(page);
      else await answered(page);
      await page.locator("main").focus();
      let inside = true;
      for (let step = 0; step < 400 && inside; ++step) {
        await page.keyboard.press("Tab");
        inside = (await mark(page)) && (await page.evaluate(() => document.activeElement.closest("main") !== null));
      }
      assert.deepEqual(await missed(page), [], view);
    }
  });
}
