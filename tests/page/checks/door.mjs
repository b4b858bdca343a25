// SPDX-License-Identifier: MIT
// Who gets in: the address with the token, the cookie and the key that the page keeps, and others on the same host.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const shown = ".recording-facts"; // what /api/v1/page answered

async function onPage(browser, view, body) {
  const { address } = await realPage();
  const page = await openPage(browser, `${address}${view}`);
  try {
    await page.waitForSelector(shown);
    await body(page, new URL(address).origin);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

// Another user's server on another port. Returns its address, and the headers of whoever came.
async function listen() {
  const came = [];
  const server = createServer((request, response) => {
    came.push(request.headers);
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end("<!doctype html><title>x</title><link rel=icon href=data:,>hello");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { server, came, address: `http://127.0.0.1:${server.address().port}/` };
}

export async function checkTheAddressKeepsItsViewAndNoSecret(browser) {
  await onPage(browser, "#io?layer=posix", async (page) => {
    const seen = await page.evaluate(() => location.pathname + location.search + location.hash);
    assert.equal(seen, "/#io?layer=posix");
    await page.reload();
    await page.waitForSelector(shown);
    assert.equal(await page.evaluate(() => location.hash), "#io?layer=posix");
  });
}

export async function checkASecondTabAndADownloadWork(browser) {
  await onPage(browser, "#flame", async (page, origin) => {
    const second = await page.context().newPage();
    await second.goto(`${origin}/#timeline`);
    await second.waitForSelector(shown);
    const link = await page.locator('a[href*="/export"]').first().getAttribute("href");
    const told = await page.evaluate(async (href) => {
      const answer = await fetch(href); // as a link does: no header of ours
      return [answer.status, answer.headers.get("Content-Disposition")];
    }, link);
    assert.equal(told[0], 200);
    assert.match(told[1], /^attachment;/);
  });
}

export async function checkAnotherPortLearnsNothingOfUse(browser) {
  await onPage(browser, "", async (page, origin) => {
    const thief = await listen();
    try {
      const visit = await page.context().newPage();
      await visit.goto(thief.address);
      const cookie = thief.came[0].cookie ?? "";
      assert.match(cookie, /^fathom-\d+=[0-9a-f]{64}$/, "browsers send it to every port");
      assert.deepEqual(await visit.evaluate(() => [localStorage.length, document.cookie]), [0, ""]);
      for (const path of ["/api/v1/page", "/api/v1/export?format=csv"]) {
        const stolen = await fetch(origin + path, { headers: { Cookie: cookie } });
        assert.equal(stolen.status, 401, path);
      }
      // What it can set does not keep the page's owner out.
      const name = cookie.split("=")[0];
      await visit.evaluate((named) => (document.cookie = `${named}=planted; path=/api`), name);
      await page.reload();
      await page.waitForSelector(shown);
    } finally {
      thief.server.closeAllConnections();
      thief.server.close();
    }
  });
}

// A link of somebody else's does not make the page forget its key; without one it says where to get it.
export async function checkAPageWithoutItsKeySaysWhatToDo(browser) {
  const { address } = await realPage();
  const page = await openPage(browser, address);
  try {
    await page.waitForSelector(shown);
    await page.goto(`${new URL(address).origin}/?key=${"0".repeat(64)}#io`);
    await page.waitForSelector(shown);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.getByText("open the address that fathom printed").first().waitFor();
    await page.goto(`${address}#io`);
    await page.waitForSelector(shown);
  } finally {
    await page.context().close();
  }
}
