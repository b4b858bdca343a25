// SPDX-License-Identifier: MIT
// A real `fathom server` with one job, for checks of what its page shows.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { environment as page, ran, fathom, servedBy, skipWithoutPage, stopped } from "./real.mjs";

export class FleetServer {
  async start() {
    skipWithoutPage();
    this.data = mkdtempSync(join(process.env.FATHOM_FOLDER, "fleet-"));
    const words = ["server", "--listen", "127.0.0.1:0", "--data", this.data];
    // Nobody else's server is to be found, nor this one by others.
    const environment = { ...page, HOME: this.data, XDG_RUNTIME_DIR: this.data };
    Object.assign(this, await servedBy(words, environment));
    this.token = readFileSync(join(this.data, "admin.token"), "utf8").trim();
    return `${this.address}/?token=${this.token}`;
  }

  async post(path, body) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const told = await fetch(`${this.address}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!told.ok) throw new Error(`POST ${path}: ${told.status}: ${await told.text()}`);
  }

  // A command that asks this server.
  command(...words) {
    const environment = { FATHOM_SERVER: this.address, FATHOM_TOKEN: this.token };
    return ran([fathom, ...words], this.data, environment);
  }

  async stop() {
    if (!this.process) return;
    await stopped(this.process);
    rmSync(this.data, { recursive: true, force: true });
  }
}
