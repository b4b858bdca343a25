// SPDX-License-Identifier: MIT
// Pages of the recordings of tests/golden, whose numbers are explained there, and what the command line says of them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import { openPage } from "./kit.mjs";
import { realPage } from "./real.mjs";

const fathom = join(process.env.FATHOM_BUILD, "fathom");
const folder = join(process.env.FATHOM_FOLDER, "golden");
const texts = fileURLToPath(new URL("../golden/", import.meta.url));

// `ok` are statuses that are no failure: `diff` says by 1 that something is slower.
export function said(words, ok = [0]) {
  const done = spawnSync(fathom, words, { encoding: "utf8", timeout: 120_000 });
  if (!ok.includes(done.status)) throw new Error(`fathom ${words.join(" ")}: exit ${done.status}: ${done.stderr}`);
  return done.stdout;
}

// Rows as objects.
export function sql(path, question) {
  return JSON.parse(said(["sql", path, question, "--format", "json"]));
}

export function golden(name) {
  const path = join(folder, `${name}.fathom`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  said(["import", join(texts, `${name}.txt`), "-o", path]);
  return path;
}

// A recording of these lines, made once.
export function imported(name, lines) {
  const path = join(folder, `${name}.fathom`);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(folder, `${name}.txt`), `${lines.join("\n")}\n`);
  said(["import", join(folder, `${name}.txt`), "-o", path]);
  return path;
}

// For `imported`: processes from 100 on that have these counters each second, the first one from the program itself, and a
// counter of the machine.
export function counterLines(names, processes, seconds) {
  const pids = Array.from({ length: processes }, (_none, at) => 100 + at);
  const lines = pids.map((pid) => `process ${pid} name=p start=0 end=${seconds * 1e9} exit=0`);
  for (let second = 0; second < seconds; ++second) {
    lines.push(`counter - ${second * 1e9} resource memory_used ${second} unit=bytes`);
    for (const pid of pids) {
      for (const [at, name] of names.entries()) {
        const layer = at === 0 ? "app" : "resource";
        lines.push(`counter ${pid} ${second * 1e9} ${layer} ${name} ${second * (at + 1) + pid}`);
      }
    }
  }
  return lines;
}

// Opens `hash` on a page of these recordings and hands over its first recording's path.
export async function onGolden(browser, names, hash, body, options = {}) {
  const { path, address } = await realPage(() => names.map(golden));
  const page = await openPage(browser, `${address}${hash}`, options);
  try {
    await body(page, Array.isArray(path) ? path[0] : path, address);
  } finally {
    await page.context().close();
  }
}

// Headings and cells of a table of the page, as they read.
export async function tableOf(page, title) {
  const figure = page
    .locator("figure.data-table")
    .filter({ has: page.getByRole("region", { name: title, exact: true }) });
  await figure.first().waitFor();
  return figure.first().evaluate((element) => {
    const texts = (row) => [...row.children].map((cell) => cell.textContent.replace(/ [▾▴]$/, ""));
    return [...element.querySelectorAll("tr:not([aria-hidden])")].map(texts);
  });
}

// The same table in what the command line printed. The rule below the headings says how wide columns are.
export function tableIn(text, title) {
  const lines = text.split("\n");
  const at = lines.indexOf(title);
  if (at < 0) throw new Error(`no table '${title}' in\n${text}`);
  const columns = [...lines[at + 2].matchAll(/─+/g)].map((match) => [match.index, match.index + match[0].length]);
  const cells = (line) => columns.map(([from, to]) => line.slice(from, to).trim());
  const rows = [lines[at + 1]];
  const wide = columns.at(-1)[1];
  for (let line = at + 3; lines[line] !== "" && lines[line] !== undefined; ++line) rows.push(lines[line]);
  // A note stands below the rows: it does not keep to the columns.
  const isRow = (line) =>
    columns.every(([, to], i) => i + 1 === columns.length || line.slice(to, to + 2).trim() === "");
  return rows.filter((line) => line.length <= wide && isRow(line)).map(cells);
}
