// SPDX-License-Identifier: MIT
// The pictures of the I/O view: each cell of a heat map, each place in a file and each column of a histogram, as they are
// coloured on the canvas, is what SQL says.
import assert from "node:assert/strict";
import { imported, sql } from "../golden_pages.mjs";
import { colours, goTo, openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const wall = 1_200_000;

// Three threads of two ranks that read and write files of ours, early and late, here and there.
function busyFiles() {
  const call = (at, pid, kind) => {
    const ts = pid * 200_000 + ((at * at * 7919) % 500_000);
    const [size, offset] = [64 << (at % 7), ((at * 37) % 61) * 4096];
    const file = at % 3 ? "/data/in" : "/data/out";
    const rank = pid < 3 ? ` rank=${pid - 1}` : "";
    const place = at % 11 ? `offset=${offset} ` : ""; // of some nobody knows where
    return `event ${pid}/${pid} ${ts} +${50 << (at % 9)} posix ${kind} category=${kind} file=${file} ${place}size=${size} bytes=${size}${rank}`;
  };
  const many = (count, pid, kind) => Array.from({ length: count }, (_none, at) => call(at, pid, kind));
  return imported("busy_files", [
    "fathom recording 1",
    `run host=alpha start=0 duration=${wall} exit=0 command="busy"`,
    ...[1, 2, 3].flatMap((pid) => [
      `process ${pid} name=busy start=0 end=${wall} exit=0`,
      `thread ${pid}/${pid} start=0 end=${wall}`,
    ]),
    ...many(150, 1, "read"),
    ...many(90, 2, "write"),
    ...many(40, 3, "read"),
    "event 3/3 500000 +600000 posix wait4 category=process",
  ]);
}

async function onFiles(browser, body) {
  const { path, address } = await realPage(busyFiles);
  const page = await openPage(browser, `${address}#io`);
  const show = (hash) => goTo(page, `#io?${hash}`);
  try {
    await body(page, path, show);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

const lightness = (colour) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

// One of 63 shades, of which more is darker; nothing has the colour of the ground.
function shadeOf(value, most) {
  return value > 0 ? 1 + Math.min(62, Math.floor((value / most) * 63)) : 0;
}

// `cells` are values by row and column. Cells of one shade have one colour, and those of more a darker one.
async function hasCells(page, canvas, { rows, columns, cells }, what) {
  const [gutter, axis] = [190, 20]; // of views/parts/heat_map.tsx
  const size = await page.$eval(canvas, ({ clientWidth, clientHeight }) => [clientWidth, clientHeight]);
  const [width, height] = [size[0] - gutter, size[1] - axis];
  const places = Array.from({ length: rows * columns }, (_none, at) => [at % columns, Math.floor(at / columns)]);
  const middles = places.map(([x, y]) => [gutter + ((x + 0.5) / columns) * width, ((y + 0.5) / rows) * height]);
  const seen = await colours(page, canvas, middles);
  const most = Math.max(...cells.values());
  const shades = new Map();
  for (const [at, [x, y]] of places.entries()) {
    const value = cells.get(`${y} ${x}`) ?? 0;
    const shade = shadeOf(value, most);
    if (!shades.has(shade)) shades.set(shade, seen[at]);
    assert.equal(seen[at], shades.get(shade), `${what}: ${value} of ${most} in row ${y}, column ${x}`);
  }
  const [ground, ...ramp] = [...shades].sort(([a], [b]) => a - b).map(([, colour]) => colour);
  assert.ok(ramp.length > 2, `${what}: cells of several shades`);
  assert.equal(new Set([ground, ...ramp]).size, shades.size, `${what}: each shade has a colour`);
  for (let at = 1; at < ramp.length; ++at) assert.ok(lightness(ramp[at]) < lightness(ramp[at - 1]), `${what}: ${ramp}`);
}

const bins = 240;
const bin = Math.ceil(wall / bins);
const columnOf = `least(ts // ${bin}, ${bins - 1})`;
const amounts = { bytes: "coalesce(bytes, 0)", calls: "1" };
const ids = { thread: "tid", rank: "rank", process: "pid", file: "file" };
const isCall = { all: "category <> 'process'", read: "category = 'read'", write: "category = 'write'" };

// Rows stand in the order of what they have.
function cellsOf(path, kind, amount, category) {
  const where = `${isCall[category]} AND ${ids[kind]} IS NOT NULL`;
  const rows = sql(
    path,
    `SELECT ${ids[kind]} AS id, CAST(sum(${amount}) AS BIGINT) AS n FROM events WHERE ${where} GROUP BY id ORDER BY n DESC`,
  );
  const found = sql(
    path,
    `SELECT ${ids[kind]} AS id, ${columnOf} AS col, CAST(sum(${amount}) AS BIGINT) AS n FROM events WHERE ${where}
     GROUP BY ALL`,
  );
  const rowOf = new Map(rows.map(({ id }, at) => [id, at]));
  return {
    rows: rows.length,
    columns: bins,
    cells: new Map(found.map(({ id, col, n }) => [`${rowOf.get(id)} ${col}`, n])),
  };
}

export async function checkEachCellOfAHeatMap(browser) {
  await onFiles(browser, async (page, path, show) => {
    for (const [kind, what, category] of [
      ["thread", "bytes", "all"],
      ["process", "calls", "all"],
      ["rank", "bytes", "all"],
      ["file", "calls", "read"],
      ["thread", "bytes", "write"],
    ]) {
      await show(`io.rows=${kind}&io.what=${what}&io.category=${category}`);
      const wanted = cellsOf(path, kind, amounts[what], category);
      await hasCells(page, ".heat-map canvas", wanted, `${what} of ${kind}s, ${category}`);
    }
  });
}

// A call that reaches into several columns has its time in each.
export async function checkTimeIsSpreadOverCells(browser) {
  await onFiles(browser, async (page, path, show) => {
    await show("io.rows=thread&io.what=time");
    const rows = sql(
      path,
      "SELECT tid, CAST(sum(dur) AS BIGINT) AS n FROM events WHERE category <> 'process' GROUP BY tid ORDER BY n DESC",
    );
    const rowOf = new Map(rows.map(({ tid }, at) => [tid, at]));
    const cells = new Map();
    for (const { tid, ts, dur } of sql(path, "SELECT tid, ts, dur FROM events WHERE category <> 'process'")) {
      for (let at = Math.floor(ts / bin); at * bin < ts + dur; ++at) {
        const inside = Math.min(ts + dur, (at + 1) * bin) - Math.max(ts, at * bin);
        const place = `${rowOf.get(tid)} ${at}`;
        cells.set(place, (cells.get(place) ?? 0) + inside);
      }
    }
    await hasCells(page, ".heat-map canvas", { rows: rows.length, columns: bins, cells }, "time of threads");
  });
}

export async function checkPlacesInAFile(browser) {
  await onFiles(browser, async (page, path, show) => {
    await show("io.file=%2Fdata%2Fin");
    const moved = "file = '/data/in' AND bytes > 0";
    const [{ size }] = sql(path, `SELECT max("offset" + bytes) AS size FROM events WHERE ${moved}`);
    const [places, columns] = [64, 200];
    const [place, width] = [Math.ceil(size / places), Math.ceil(wall / columns)];
    for (const [at, category] of ["read", "write"].entries()) {
      const found = sql(
        path,
        `SELECT "offset" // ${place} AS row, ts // ${width} AS col, CAST(sum(bytes) AS BIGINT) AS n FROM events
         WHERE ${moved} AND category = '${category}' AND "offset" IS NOT NULL GROUP BY ALL`,
      );
      assert.ok(found.length > 30, `${found.length} places`);
      const cells = new Map(found.map(({ row, col, n }) => [`${row} ${col}`, n]));
      const canvas = `section[aria-label="Places in the file"] .heat-map:nth-of-type(${at + 1}) canvas`;
      await hasCells(page, canvas, { rows: places, columns, cells }, `${category} by place`);
    }
    const [{ lost }] = sql(path, `SELECT count(*) AS lost FROM events WHERE ${moved} AND "offset" IS NULL`);
    const note = await page.locator('section[aria-label="Places in the file"] .note').innerText();
    assert.equal(note, `${lost} calls moved bytes at an unknown place.`);
  });
}

// How high a column of pixels has another colour than the ground above it, from the line at the bottom up.
async function heightAt(page, canvas, x) {
  const [height, bottom] = [180, 22]; // of views/parts/histogram.tsx
  const seen = await colours(
    page,
    canvas,
    Array.from({ length: height - bottom }, (_none, y) => [x, height - bottom - 3 - y]),
  );
  const first = seen.findIndex((colour) => colour !== seen[0]);
  return (first < 0 ? seen.length : first) + 2;
}

async function hasBars(page, title, rows) {
  const figure = `figure.drawn:has(canvas[aria-label^="${title}"])`;
  const label = await page.locator(`${figure} canvas`).getAttribute("aria-label");
  const calls = rows.reduce((sum, { n }) => sum + n, 0);
  assert.match(label, new RegExp(`: ${calls} calls from`));
  const powers = rows.map(({ power }) => power);
  const [first, last] = [Math.min(...powers), Math.max(...powers)];
  const width = await page.$eval(`${figure} canvas`, ({ clientWidth }) => clientWidth);
  const most = Math.max(...rows.map(({ n }) => n));
  const step = width / (last - first + 1);
  assert.ok(rows.length > 3 && rows.some(({ n }) => n < most), title);
  for (const { power, n } of rows) {
    const seen = await heightAt(page, `${figure} canvas`, (power - first + 0.5) * step);
    const wanted = (n / most) * (180 - 22 - 16);
    assert.ok(
      Math.abs(seen - wanted) < 2.5,
      `${title}: 2^${power}: ${seen} pixels instead of ${wanted} for ${n} calls`,
    );
  }
}

export async function checkColumnsOfHistograms(browser) {
  await onFiles(browser, async (page, path, show) => {
    for (const [category, where] of [
      ["all", "category IN ('read', 'write')"],
      ["read", "category = 'read'"],
    ]) {
      await show(`io.category=${category}`);
      const count = (value) =>
        sql(
          path,
          `SELECT CAST(floor(log2(${value})) AS INTEGER) AS power, count(*) AS n FROM events WHERE ${where} GROUP BY power`,
        );
      await hasBars(page, "Sizes of calls (posix)", count("bytes"));
      await hasBars(page, "Latencies of calls (posix)", count("dur"));
    }
  });
}
