// SPDX-License-Identifier: MIT
// What checks of the page share: a browser, a page on a server, pixels of a canvas.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const packages = process.env.FATHOM_WEB_PACKAGES; // .cache/web/node_modules
const require = createRequire(join(packages, "/"));
const { chromium } = require("playwright-core");

export const dist = process.env.FATHOM_PAGE;
const axe = readFileSync(join(packages, "axe-core/axe.min.js"), "utf8");

const patienceMs = 90_000; // the machine may have other things to do

export async function openBrowser() {
  return chromium.launch({ executablePath: process.env.FATHOM_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
}

// A page in a context of its own. What it says on its console, and what breaks in it, is kept.
export async function openPage(browser, address, options = {}) {
  const { size = { width: 1280, height: 800 }, dark = false } = options;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
    bypassCSP: options.bypassCSP ?? false,
  });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => {
    // 503 is the server's way to say that an index is still being made; the page asks again.
    const waits = message.text().includes("503 (Service Unavailable)");
    if (message.type() === "error" && !waits) page.problems.push(`${message.text()} ${message.location().url}`.trim());
  });
  await page.goto(address);
  return page;
}

// What the page itself would be answered.
export function asked(page, path) {
  return page.evaluate(async (path) => {
    const headers = { "Fathom-Key": localStorage.getItem("fathom.key") ?? "" };
    return (await fetch(`/api/v1${path}`, { headers })).json();
  }, path);
}

// Waits until the timeline has all that it asked for, and has drawn it.
export async function settled(page) {
  await page.waitForSelector('.tl-picture[aria-busy="false"]');
  await page.waitForFunction(() => !document.querySelector(".tl-toolbar").textContent.includes("Reading all events"));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForSelector('.tl-picture[aria-busy="false"]');
}

// Waits until no view waits for an answer.
export async function answered(page) {
  await page.waitForSelector(".view");
  await page.waitForFunction(() => {
    const busy = document.querySelector('.spinner, .answer[aria-busy="true"]');
    return busy === null && document.querySelector(".view") !== null;
  });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

// Leads to another address within the page, and waits for what it asks for.
export async function goTo(page, hash) {
  await page.evaluate(async (to) => {
    if (location.hash === to) return;
    const heard = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    location.hash = to;
    await heard;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }, hash);
  await answered(page);
}

// In a browser of tests every tab is seen: this one is told otherwise.
export async function hide(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

// Colours at places of a canvas, in CSS pixels, as #rrggbb.
export function colours(page, selector, places) {
  return page.$eval(
    selector,
    (canvas, wanted) => {
      const ratio = canvas.width / canvas.clientWidth;
      const context = canvas.getContext("2d");
      return wanted.map(([x, y]) => {
        const [red, green, blue] = context.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data;
        return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
      });
    },
    places,
  );
}

// The colour of each layer, as the tables of layers have it; and of what is no layer, as theme/layers.ts does.
export function layerColours(shade = "light") {
  const text = readFileSync(new URL("../../web/src/theme/layers.ts", import.meta.url), "utf8");
  const [, light, dark] = text.match(/\["wait", \{ light: "(#\w+)", dark: "(#\w+)" \}\]/);
  const all = [...JSON.parse(process.env.FATHOM_LAYER_COLOURS), { name: "wait", light, dark }];
  return Object.fromEntries(all.map((each) => [each.name, each[shade]]));
}

// Violations of axe-core's rules, in words.
export async function accessProblems(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(
    (each) =>
      `${each.id}: ${each.help}: ${each.nodes
        .map((node) => node.html)
        .slice(0, 3)
        .join(" | ")}`,
  );
}

// The stretch of a row of pixels that has one colour, as [left, right) in CSS pixels.
export function stretches(page, selector, y, colour) {
  return page.$eval(
    selector,
    (canvas, [line, wanted]) => {
      const ratio = canvas.width / canvas.clientWidth;
      const data = canvas.getContext("2d").getImageData(0, Math.round(line * ratio), canvas.width, 1).data;
      const hex = (at) => `#${[0, 1, 2].map((part) => data[at * 4 + part].toString(16).padStart(2, "0")).join("")}`;
      const found = [];
      for (let at = 0; at < canvas.width; ++at) {
        if (hex(at) !== wanted) continue;
        const last = found.at(-1);
        if (last && last[1] === at) last[1] = at + 1;
        else found.push([at, at + 1]);
      }
      return found.map((pair) => pair.map((value) => value / ratio));
    },
    [y, colour],
  );
}

// A check that cannot be made here says why.
export class Skipped extends Error {}

const golden = join(new URL(".", import.meta.url).pathname, "golden");

// Compares what is on the screen with a picture that was kept. Fonts and browsers differ a little: a pixel counts where a
// channel is off by more than 48, and one in a hundred may be; more where there is much text.
export async function looksLike(page, name, selector, most = 0.01) {
  const shot = await page.locator(selector).screenshot({ animations: "disabled" });
  const seen = Buffer.from(await page.evaluate(halved, shot.toString("base64")), "base64");
  const path = join(golden, `${name}.png`);
  if (process.argv.includes("--update")) return void writeFileSync(path, seen);
  const off = await page.evaluate(
    comparePictures,
    [readFileSync(path), seen].map((bytes) => bytes.toString("base64")),
  );
  if (off > most)
    throw new Error(`${name}: ${(off * 100).toFixed(1)} % of its pixels are not as in tests/page/golden/${name}.png`);
}

// In the browser: half as large and with sixteen shades of each colour, which is enough to see what has changed, makes small
// files, and hides how fonts are smoothed.
async function halved(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const whole = await createImageBitmap(new Blob([bytes]));
  const [width, height] = [Math.floor(whole.width / 2), Math.floor(whole.height / 2)];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(whole, 0, 0, width, height);
  const picture = context.getImageData(0, 0, width, height);
  for (let at = 0; at < picture.data.length; ++at)
    if (at % 4 < 3) picture.data[at] = Math.round(picture.data[at] / 17) * 17;
  context.putImageData(picture, 0, 0);
  return canvas.toDataURL("image/png").split(",")[1];
}

// In the browser, which can read pictures. Returns the share of pixels that differ. Where other fonts make what stands above
// a little higher, the part that both show is compared.
async function comparePictures(pictures) {
  const [before, now] = await Promise.all(
    pictures.map(async (text) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      return context.getImageData(0, 0, bitmap.width, bitmap.height);
    }),
  );
  const [width, height] = ["width", "height"].map((side) => Math.min(before[side], now[side]));
  if (width < 0.9 * before.width || height < 0.9 * before.height) return 1;
  const differs = (x, y) =>
    [0, 1, 2].some((part) => {
      const [one, other] = [before, now].map((picture) => picture.data[(y * picture.width + x) * 4 + part]);
      return Math.abs(one - other) > 48;
    });
  let off = 0;
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) off += differs(x, y) ? 1 : 0;
  return off / (width * height);
}

// What a button of a picture or a table saves: "SVG", "CSV".
export async function savedText(page, figure, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    figure.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return readFileSync(await download.path(), "utf8");
}

export async function savedTable(page, figure) {
  return rowsOfCsv(await savedText(page, figure, "CSV"));
}

// Boxes and texts of a saved picture; its ground is none.
export function boxesOfSvg(svg) {
  const boxes = [...svg.matchAll(/<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="([^"]*)"/g)];
  const texts = [...svg.matchAll(/<text x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)</g)];
  return {
    boxes: boxes.map(([, x, y, width, height, fill]) => ({ x: +x, y: +y, width: +width, height: +height, fill })),
    texts: texts.map(([, x, y, text]) => ({ x: +x, y: +y, text })),
  };
}

// The saved table of everything on screen, as objects.
export async function savedBoxes(page) {
  const button = page.getByRole("button", { name: "Boxes (CSV)" });
  if (!(await button.isVisible())) await page.getByText("Save", { exact: true }).click();
  const [saved] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const chunks = [];
  for await (const chunk of await saved.createReadStream()) chunks.push(chunk);
  return rowsOfCsv(Buffer.concat(chunks).toString("utf8"));
}

// As objects.
export function rowsOfCsv(text) {
  const [head, ...lines] = text.trim().split("\n").map(cells);
  return lines.map((line) => Object.fromEntries(head.map((name, at) => [name, line[at]])));
}

function cells(line) {
  const found = [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].filter(({ index }) => index < line.length);
  return found.map(([, cell]) => cell.replace(/^"|"$/g, "").replaceAll('""', '"'));
}
