// SPDX-License-Identifier: MIT
// A real `fathom view` of a real recording, made once for all checks. Its answers are held against `fathom sql`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { dist, Skipped } from "./kit.mjs";

export const fathom = join(process.env.FATHOM_BUILD, "fathom");
export const folder = join(process.env.FATHOM_FOLDER, "real");
export const hostileName = "<img src=x onerror=alert(1)>.txt";
const started = new Map();

export function ran(words, cwd = folder, env = {}) {
  mkdirSync(folder, { recursive: true });
  const options = { cwd, encoding: "utf8", timeout: 120_000, env: { ...process.env, ...env } };
  const done = spawnSync(words[0], words.slice(1), options);
  if (done.status !== 0) throw new Error(`${words.join(" ")}: exit ${done.status}: ${done.stderr}`);
  return done.stdout;
}

// A shell that copies files, one of which has a hostile name.
export function realRecording() {
  const path = join(folder, "shell.fathom");
  if (existsSync(path)) return path;
  const program = 'head -c 100000 /dev/zero > "$1"; for i in 1 2 3; do cat "$1" > copy$i; sleep 0.05; done';
  ran([fathom, "run", "-o", path, "--", "sh", "-c", program, "sh", hostileName]);
  return path;
}

// Only a build that says that it has no page is a reason to skip.
export function skipWithoutPage() {
  if (!existsSync(fathom)) throw new Skipped(`there is no ${fathom}; ./dev build makes it`);
  const help = spawnSync(fathom, ["view", "--help"], { encoding: "utf8" });
  if ((help.stdout + help.stderr).includes("not in this build")) throw new Skipped("this build has no page");
  if (help.status !== 0) throw new Error(`fathom view --help: exit ${help.status}: ${help.stderr}`);
}

// The recording's path (or those of several, as `make` gives them), and the address of a page that shows it.
export async function realPage(make = realRecording) {
  skipWithoutPage();
  const path = make();
  const key = [path].flat().join("\n");
  if (!started.has(key)) started.set(key, servedBy(["view", "--no-open", ...[path].flat()])); // two checks may ask at once
  return { path, address: (await started.get(key)).address };
}

// The page of these sources, which may be newer than that inside the program.
export const environment = { ...process.env, FATHOM_WEB_DIR: dist };

// A `fathom` that serves, as soon as it is ready.
export async function servedBy(words, env = environment) {
  const server = spawn(fathom, words, { stdio: ["ignore", "pipe", "inherit"], env });
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("ready ")) return { process: server, address: line.slice("ready ".length).trim() };
  }
  throw new Error(`fathom ${words[0]} ended before it was ready`);
}

export async function stopped(server) {
  const ended = new Promise((done) => server.on("exit", done));
  server.kill("SIGTERM");
  await ended;
}

export async function closeReal() {
  for (const { process } of await Promise.all(started.values())) await stopped(process);
}

// Rows as objects.
export function sql(path, question) {
  return JSON.parse(ran([fathom, "sql", path, question, "--format", "json"]));
}
