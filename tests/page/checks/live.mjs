// SPDX-License-Identifier: MIT
// A recording that grows while its page is open: a real program, which goes on when it is told to.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, savedBoxes, settled } from "../kit.mjs";
import { environment, fathom, servedBy, skipWithoutPage, sql, stopped } from "../real.mjs";

// Each line that arrives is work: three copies.
const program = 'while read -r step; do for i in 1 2 3; do cat "$0" > "$1/$step-$i"; done; done < "$1/steps"';

class SteppingProgram {
  constructor() {
    this.folder = mkdtempSync(join(process.env.FATHOM_FOLDER, "live-"));
    this.path = join(this.folder, "live.fathom");
    assert.equal(spawnSync("mkfifo", [join(this.folder, "steps")]).status, 0);
    const command = ["sh", "-c", program, "/etc/passwd", this.folder];
    const words = ["run", "-q", "--layers", "posix,stdio", "-o", this.path, "--", ...command];
    this.process = spawn(fathom, words, { stdio: ["ignore", "ignore", "inherit"] });
    this.ended = new Promise((done) => this.process.on("exit", done));
    this.steps = spawn("sh", ["-c", 'exec cat > "$0"', join(this.folder, "steps")], {
      stdio: ["pipe", "ignore", "inherit"],
    });
  }

  // Returns how many events there are when its work is done: those of the files that it made, and no more for a while.
  async step(name) {
    this.steps.stdin.write(`${name}\n`);
    const files = `SELECT count(DISTINCT file) AS files, count(*) AS events FROM events WHERE file LIKE '%/${name}-_'`;
    for (let tries = 0; tries < 300; ++tries) {
      const before = this.events();
      await new Promise((done) => setTimeout(done, 300));
      if (this.events() === before && before > 0 && sql(this.path, files)[0].files === 3) return before;
    }
    throw new Error(`step ${name} is not done`);
  }

  events() {
    try {
      return sql(this.path, "SELECT count(*) AS events FROM events")[0].events;
    } catch {
      return 0; // nothing is there yet
    }
  }

  async end() {
    this.steps.stdin.end();
    assert.equal(await this.ended, 0);
  }

  remove() {
    this.steps.kill();
    this.process.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// The header's number, and every event in one box.
async function shows(page, events) {
  const text = `, ${events.toLocaleString("en-US")} events`;
  await page.waitForFunction((wanted) => document.querySelector("header").textContent.includes(wanted), text);
  let drawn = 0;
  for (let tries = 0; tries < 20 && drawn !== events; ++tries) {
    await page.waitForTimeout(tries && 500); // what has grown is asked for once a second
    await settled(page);
    const boxes = await savedBoxes(page);
    drawn = boxes.reduce((sum, box) => sum + Number(box.events), 0);
  }
  assert.equal(drawn, events);
}

export async function checkARecordingGrowsWhileItIsMade(browser) {
  skipWithoutPage();
  const running = new SteppingProgram();
  let server, page;
  try {
    const first = await running.step("first");
    server = await servedBy(["view", "--no-open", running.path], environment);
    page = await openPage(browser, `${server.address}#timeline`, { size: { width: 1200, height: 1200 } });
    await page.waitForSelector("header nav a");
    await page.getByText("recording now").waitFor();
    await shows(page, first);
    const second = await running.step("second");
    assert.ok(second > first, `${second} events after ${first}`);
    await shows(page, second);
    await running.end();
    await page.getByText("recording now").waitFor({ state: "detached" });
    await shows(page, running.events());
    assert.deepEqual(page.problems, []);
  } finally {
    await page?.context().close();
    if (server) await stopped(server.process);
    running.remove();
  }
}
