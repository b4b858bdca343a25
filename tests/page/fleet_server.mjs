// SPDX-License-Identifier: MIT
// A real `fathom server` with one job, for checks of what its page shows.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { environment as page, skipWithoutPage } from "./real.mjs";

const fathom = join(process.env.FATHOM_BUILD, "fathom");

export class FleetServer {
  async start() {
    skipWithoutPage();
    this.data = mkdtempSync(join(process.env.FATHOM_FOLDER, "fleet-"));
    const words = ["server", "--listen", "127.0.0.1:0", "--data", this.data];
    // Nobody else's server is to be found, nor this one by others.
    const environment = { ...page, HOME: this.data, XDG_RUNTIME_DIR: this.data };
    this.process = spawn(fathom, words, { stdio: ["ignore", "pipe", "inherit"], env: environment });
    for await (const line of createInterface({ input: this.process.stdout })) {
      if (!line.startsWith("ready ")) continue;
      this.address = line.slice("ready ".length).trim();
      this.token = readFileSync(join(this.data, "admin.token"), "utf8").trim();
      return `${this.address}/?token=${this.token}`;
    }
    throw new Error("fathom server ended before it was ready");
  }

  async post(path, body) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const told = await fetch(`${this.address}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!told.ok) throw new Error(`POST ${path}: ${told.status}: ${await told.text()}`);
  }

  async stop() {
    if (!this.process) return;
    const ended = new Promise((done) => this.process.on("exit", done));
    this.process.kill("SIGTERM");
    await ended;
    rmSync(this.data, { recursive: true, force: true });
  }
}
