// SPDX-License-Identifier: MIT
// Every box of a flame graph is where SQL says, in each order and of each kind of weight: its place and width in the saved
// picture, and its colour's stretch on the canvas.
import assert from "node:assert/strict";
import { imported, sql } from "../golden_pages.mjs";
import { answered, boxesOfSvg, goTo, openPage, savedText, stretches } from "../kit.mjs";
import { realPage } from "../real.mjs";

const line = 18; // of views/flame/paint.ts

// Two threads: a function in itself, one that two functions call, bytes that a system call tells of again; functions that
// were sampled, and waited.
function manyCalls() {
  const read = (ts, dur, bytes) => `event 1/1 ${ts} +${dur} posix read category=read file=/in bytes=${bytes}`;
  return imported("flames", [
    "fathom recording 1",
    'run host=a start=0 duration=1000000 exit=0 command="flames"',
    "process 1 name=flames start=0 end=1000000 exit=0 rung=perf",
    "thread 1/1 start=0 end=1000000 ready=0",
    "thread 1/2 start=0 end=1000000 ready=0",
    "event 1/1 0 +400000 app main",
    "event 1/1 1000 +300000 app load",
    read(2000, 100_000, 60_000),
    "event 1/1 3000 +90000 syscall pread64 category=read file=/in bytes=60000",
    read(110_000, 50_000, 20_000),
    "event 1/1 170000 +90000 app parse",
    "event 1/1 180000 +40000 app parse",
    "event 1/1 185000 +20000 posix pread category=read file=/in bytes=30000",
    "event 1/1 310000 +60000 app save",
    "event 1/1 315000 +45000 posix write category=write file=/out bytes=10000",
    "event 1/2 0 +200000 app worker",
    "event 1/2 10000 +150000 app load",
    "event 1/2 20000 +70000 posix read category=read file=/in bytes=45000",
    ...[5, 9, 2].map(
      (weight, at) => `sample 1/1 ${at * 1000} cpu-clock weight=${weight}000 stack=main!a;load!a;f${at}!a`,
    ),
    "sample 1/1 2000 off-cpu weight=40000 stack=main!a;load!a;read!libc.so.6",
    "sample 1/1 110000 off-cpu weight=25000 stack=main!a;load!a;read!libc.so.6",
    "sample 1/1 315000 off-cpu weight=30000 stack=main!a;save!a;write!libc.so.6",
    "sample 1/2 20000 off-cpu weight=11000 stack=worker!a;load!a;read!libc.so.6",
  ]);
}

// Who called whom, and what each call weighs by itself. What has no depth stands alone.
const calls = (weight, where) =>
  `WITH e AS (SELECT *, row_number() OVER () AS id FROM events WHERE tid IS NOT NULL AND ${where})
   SELECT list(a.name ORDER BY a.depth) AS path, CAST(any_value(e.${weight}) AS BIGINT) AS weight
   FROM e JOIN e a ON a.id = e.id OR (a.pid = e.pid AND a.tid = e.tid AND a.depth < e.depth AND a.ts <= e.ts AND
     a.ts + a.dur >= e.ts + e.dur) GROUP BY e.id`;
const samples = (event) =>
  `SELECT list(function ORDER BY depth) AS path, CAST(any_value(weight) AS BIGINT) AS weight
   FROM (SELECT *, row_number() OVER () AS id FROM samples WHERE event = '${event}') JOIN frames USING (stack) GROUP BY id`;

// Paths added up: what stands below what, with the weight of all below it.
function treeOf(rows) {
  const root = { total: 0, children: new Map() };
  for (const { path, weight } of rows) {
    if (!(weight > 0)) continue;
    let at = root;
    at.total += weight;
    for (const name of path) {
      if (!at.children.has(name)) at.children.set(name, { total: 0, children: new Map() });
      at = at.children.get(name);
      at.total += weight;
    }
  }
  return root;
}

// The heaviest child stands first.
function placed(node, scale, x = 0, depth = 0) {
  const boxes = [];
  for (const [name, child] of [...node.children].sort(([, a], [, b]) => b.total - a.total)) {
    boxes.push({ name, x, width: child.total * scale, depth, weight: child.total });
    boxes.push(...placed(child, scale, x, depth + 1));
    x += child.total * scale;
  }
  return boxes;
}

// Of the picture in `place`: all boxes that it has, and no others.
async function isDrawn(page, place, rows, upwards = false) {
  const canvas = `${place} canvas`;
  const width = await page.$eval(canvas, (element) => element.clientWidth);
  const tree = treeOf(rows);
  const wanted = placed(tree, width / tree.total);
  const levels = Math.max(...wanted.map(({ depth }) => depth)) + 1;
  const { boxes, texts } = boxesOfSvg(await savedText(page, page.locator(place).locator("figure.drawn"), "SVG"));
  assert.equal(boxes.length, wanted.length, "a box for each path");
  for (const { name, x, width, depth, weight } of wanted) {
    const y = (upwards ? levels - 1 - depth : depth) * line;
    const what = `${name} of ${weight} at level ${depth}: from ${x}, ${width} wide`;
    const isThere = (box) => box.y === y && Math.abs(box.x - x) < 0.1 && Math.abs(box.width - width + 1) < 0.1;
    const box = boxes.find(isThere);
    assert.ok(box, `${what}: ${JSON.stringify(boxes.filter((each) => each.y === y))}`);
    const label = texts.find((text) => Math.abs(text.x - x - 4) < 0.1 && Math.abs(text.y - y - line / 2) < 0.1);
    if (width > 100) assert.equal(label?.text, name, what);
    const seen = await stretches(page, canvas, y + 1, box.fill);
    const ends = seen.find(([left, right]) => Math.abs(left - x) < 1.5 && Math.abs(right - x - width + 1) < 1.5);
    assert.ok(ends, `${what}: seen ${seen}`);
  }
}

const below = (name) => (rows) => rows.map(({ path, weight }) => ({ path: [name, ...path], weight }));
const ofAll = below("all");
const inverted = (rows) => ofAll(rows.map(({ path, weight }) => ({ path: [...path].reverse(), weight })));

// Of the paths that a function is in: from its outermost place out, or from there on in.
const around = (name, part) => (rows) =>
  rows
    .filter(({ path }) => path.includes(name))
    .map(({ path, weight }) => ({ path: part(path, path.indexOf(name)), weight }));
const callersOf = (name) => around(name, (path, at) => [...path.slice(0, at + 1)].reverse().concat("all"));
const calleesOf = (name) => around(name, (path, at) => path.slice(at));

const times = calls("self", "true");
const weights = [
  ["time", times],
  ["bytes", calls("bytes", "layer <> 'syscall'")], // which tells of them again
  ["cpu", samples("cpu-clock")],
  ["offcpu", samples("off-cpu")],
];

async function onCalls(browser, body) {
  const { path, address } = await realPage(manyCalls);
  const page = await openPage(browser, `${address}#flame`);
  const show = (hash) => goTo(page, `#flame?${hash}`);
  try {
    await body(page, path, show);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}

export async function checkBoxesOfEachOrderAndWeight(browser) {
  await onCalls(browser, async (page, path, show) => {
    for (const [weight, question] of weights) {
      const rows = sql(path, question);
      for (const [mode, order] of [
        ["left", ofAll],
        ["inverted", inverted],
      ]) {
        await show(`flame.mode=${mode}&flame.weight=${weight}`);
        await isDrawn(page, ".flame-picture", order(rows));
      }
    }
  });
}

export async function checkCallersAndCalleesOfAFunction(browser) {
  await onCalls(browser, async (page, path, show) => {
    const rows = sql(path, times);
    // Two functions call load; parse is in itself, which counts once.
    for (const name of ["load", "parse"]) {
      await show(`flame.mode=sandwich&flame.weight=time&flame.function=${name}%09app`);
      const half = (at) => `.sandwich > div > .flame-picture:nth-child(${at})`;
      await isDrawn(page, half(1), callersOf(name)(rows), true);
      await isDrawn(page, half(2), calleesOf(name)(rows));
    }
  });
}

// Functions that take as long as before, or not.
function changed(name, times) {
  let ts = 0;
  const events = Object.entries(times).map(([called, dur]) => {
    const begin = ts;
    ts += dur + 1000;
    return `event 1/1 ${begin} +${dur} app ${called}`;
  });
  return imported(`changed/${name}`, [
    "fathom recording 1",
    `run host=a start=0 duration=${ts} exit=0 command="changed"`,
    `process 1 name=changed start=0 end=${ts} exit=0`,
    `thread 1/1 start=0 end=${ts}`,
    ...events,
  ]);
}

function wordsOf(before, after) {
  if (before === 0 || after === 0) return before === 0 ? "only after" : "only before";
  return { 0.5: "half as much", 1: "the same", 2: "twice as much" }[after / before];
}

// The colours of the legend, by what they stand for, as #rrggbb.
async function legendOf(page) {
  const found = await page.$$eval(".compare ul.legend li", (all) =>
    all.map((each) => [each.textContent, getComputedStyle(each.querySelector(".swatch")).backgroundColor]),
  );
  const hex = (rgb) =>
    `#${/(\d+), (\d+), (\d+)/
      .exec(rgb)
      .slice(1)
      .map((part) => Number(part).toString(16).padStart(2, "0"))
      .join("")}`;
  return Object.fromEntries(found.map(([words, rgb]) => [words, hex(rgb)]));
}

export async function checkBoxesOfADifference(browser) {
  const make = () => [
    changed("before", { same: 70_000, slower: 100_000, faster: 80_000, removed: 25_000 }),
    changed("after", { same: 70_000, slower: 200_000, faster: 40_000, added: 30_000 }),
  ];
  const { path, address } = await realPage(make);
  const page = await openPage(browser, `${address}#compare?compare.weight=time`);
  try {
    const question = "SELECT name, CAST(sum(dur) AS BIGINT) AS weight FROM events GROUP BY name";
    const [before, after] = path.map((each) =>
      Object.fromEntries(sql(each, question).map(({ name, weight }) => [name, weight])),
    );
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    for (const [side, times] of Object.entries({ after, before })) {
      await page.getByLabel("Width").selectOption(side);
      await answered(page);
      await page.locator(".compare .flame-picture").waitFor();
      const rows = Object.entries(times).map(([name, weight]) => ({ path: ["all", name], weight }));
      await isDrawn(page, ".compare .flame-picture", rows);
      const legend = await legendOf(page);
      const { boxes, texts } = boxesOfSvg(await savedText(page, page.locator(".compare .flame-picture figure"), "SVG"));
      for (const name of names.filter((each) => times[each] > 0)) {
        const { x } = texts.find(({ text }) => text === name);
        const box = boxes.find((each) => each.y === line && Math.abs(each.x - x + 4) < 0.1);
        const words = wordsOf(before[name] ?? 0, after[name] ?? 0);
        assert.equal(box.fill, legend[words], `${name}: ${words}`);
      }
    }
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}
