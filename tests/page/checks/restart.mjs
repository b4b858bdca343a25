// SPDX-License-Identifier: MIT
// A server that ends and begins again while its page is open.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const fathom = join(process.env.FATHOM_BUILD, "fathom");

async function started(words, environment = {}) {
  const env = { ...process.env, ...environment };
  const server = spawn(fathom, words, { stdio: ["ignore", "pipe", "inherit"], env });
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("ready ")) return { server, address: line.slice("ready ".length).trim() };
  }
  throw new Error(`fathom ${words[0]} ended before it was ready`);
}

async function stopped(server) {
  const ended = new Promise((done) => server.on("exit", done));
  server.kill("SIGTERM");
  await ended;
}

const viewOf = (path, port) => started(["view", "--no-open", "--listen", `127.0.0.1:${port}`, path]);

// `fathom view` makes a token at each start: the page has to say where the new one is.
export async function checkAViewWithAnotherTokenSaysWhatToDo(browser) {
  const { path } = await realPage();
  let { server, address } = await viewOf(path, 0);
  const page = await openPage(browser, `${address}#functions`);
  try {
    await page.waitForSelector("header nav a");
    await stopped(server);
    ({ server, address } = await viewOf(path, new URL(address).port));
    await page.keyboard.press("4"); // a view that asks
    await page.getByText("open the address that fathom printed").first().waitFor();
    await page.goto(`${address}#io`);
    await page.waitForSelector("header nav a");
    await page.getByText("open the address that fathom printed").waitFor({ state: "detached" });
  } finally {
    await page.context().close();
    await stopped(server);
  }
}

// The tokens of `fathom server` outlive it, and so does whoever is logged in.
export async function checkAServerKnowsItsPageAfterARestart(browser) {
  const data = mkdtempSync(join(process.env.FATHOM_FOLDER, "restart-"));
  const environment = { HOME: data, XDG_RUNTIME_DIR: data };
  const serve = (port) => started(["server", "--listen", `127.0.0.1:${port}`, "--data", data], environment);
  let { server, address } = await serve(0);
  const token = readFileSync(join(data, "admin.token"), "utf8").trim();
  const page = await openPage(browser, `${address}/?token=${token}#fleet`);
  try {
    await page.getByRole("region", { name: "Jobs" }).waitFor();
    await stopped(server);
    ({ server } = await serve(new URL(address).port));
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ name: "later", info: "" });
    assert.equal((await fetch(`${address}/api/v1/jobs`, { method: "POST", headers, body })).status, 201);
    await page.reload();
    await page.getByText("later", { exact: true }).waitFor();
  } finally {
    await page.context().close();
    await stopped(server);
    rmSync(data, { recursive: true, force: true });
  }
}
