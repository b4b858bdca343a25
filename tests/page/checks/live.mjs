// SPDX-License-Identifier: MIT
// A recording that grows while its page is open: a real program, which goes on when it is told to.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, savedBoxes, settled } from "../kit.mjs";
import { environment, fathom, servedBy, skipWithoutPage, sql, stopped } from "../real.mjs";

// Asks until it is so: how long that takes is the machine's affair, within what a check may take.
async function until(is, why) {
  const end = Date.now() + 240_000;
  while (!(await is())) {
    if (Date.now() > end) assert.fail(why());
    await new Promise((done) => setTimeout(done, 200));
  }
}

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

  // Returns when its files are in the recording.
  async step(name) {
    this.steps.stdin.write(`${name}\n`);
    const files = `SELECT count(DISTINCT file) AS files FROM events WHERE file LIKE '%/${name}-_'`;
    await until(
      () => this.events() > 0 && sql(this.path, files)[0].files === 3,
      () => `step ${name} is not done`,
    );
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

  async remove() {
    this.steps.kill();
    this.process.kill("SIGTERM");
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// The header's number, and every event in one box: both are those of SQL, soon after it has them.
async function shows(page, running) {
  let told;
  const areTheSame = async () => {
    await settled(page);
    const events = running.events();
    const drawn = (await savedBoxes(page)).reduce((sum, box) => sum + Number(box.events), 0);
    const header = (await page.locator("header").innerText()).replaceAll(",", "");
    told = { events, drawn, header: Number(/(\d+) events/.exec(header)?.[1]) };
    return drawn === events && told.header === events;
  };
  await until(areTheSame, () => `not the same: ${JSON.stringify(told)}`);
  return told.events;
}

export async function checkARecordingGrowsWhileItIsMade(browser) {
  skipWithoutPage();
  const running = new SteppingProgram();
  let server, page;
  try {
    await running.step("first");
    server = await servedBy(["view", "--no-open", running.path], environment);
    page = await openPage(browser, `${server.address}#timeline`, { size: { width: 1200, height: 1200 } });
    await page.getByText("recording now").waitFor();
    const first = await shows(page, running);
    await running.step("second");
    const second = await shows(page, running);
    assert.ok(second > first, `${second} events after ${first}`);
    await running.end();
    await page.getByText("recording now").waitFor({ state: "detached" });
    await shows(page, running);
    assert.deepEqual(page.problems, []);
  } finally {
    await page?.context().close();
    if (server) await stopped(server.process);
    await running.remove();
  }
}
