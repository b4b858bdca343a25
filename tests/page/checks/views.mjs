// SPDX-License-Identifier: MIT
// What views show is what the command line says of the same recording, and it can be reached, read and saved.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { onGolden, said, sql, tableIn, tableOf } from "../golden_pages.mjs";
import { accessProblems, answered, colours, openPage, settled, stretches } from "../kit.mjs";
import { hostileName, realPage } from "../real.mjs";

async function sameTable(page, title, text, titleInText = title) {
  assert.deepEqual(await tableOf(page, title), tableIn(text, titleInText), title);
}

export async function checkTheOverviewSaysWhatTheReportSays(browser) {
  await onGolden(browser, ["small"], "#overview", async (page, path) => {
    await answered(page);
    const text = said(["report", path]);
    await sameTable(page, "Top functions", text);
    await sameTable(page, "Top files", text);
    await sameTable(page, "Losses", text);
    const words = await page.locator(".words li").allInnerTexts();
    assert.deepEqual(words, text.split("\n").slice(0, words.length));
    const legend = await page.locator(".split .legend li").allInnerTexts();
    const layers = tableIn(text, "Time by layer")
      .slice(1)
      .filter((row) => row[3] !== "-");
    assert.deepEqual(
      legend.map((line) => line.replace(/\s+/g, " ")),
      layers.map((row) => `${row[0]} ${row[2]} ${row[3]}`),
    );
    const card = await page.locator(".run-card").innerText();
    const [{ n }] = sql(path, "SELECT count(*) AS n FROM events");
    assert.match(card, new RegExp(`Events\\s+${n}\\b`));
    assert.match(await page.locator("header").innerText(), new RegExp(`, ${n} events`));
    for (const fact of [/work --fast/, /1\.00 ms/, /alpha/, /posix: 3 \(spool full\)/, /complete/, /Exit status\s+0/])
      assert.match(card, fact);
    assert.match(await page.locator(".insight").innerText(), /The recording is incomplete/);
  });
}

// The bars of threads are those of `report threads`, and one of them can be selected.
export async function checkEachThreadsTimeIsWhatTheReportSays(browser) {
  await onGolden(browser, ["waits"], "#overview", async (page, path) => {
    await answered(page);
    const table = JSON.parse(said(["report", path, "threads", "--format", "json", "--top", "0"])).threads;
    const wanted = [...table].sort((a, b) => b.wall - a.wall).map(({ name, tid }) => `${name} (${tid})`);
    assert.deepEqual(await page.locator(".threads li > :first-child").allInnerTexts(), wanted);
    const drawn = await page.$$eval(".threads .bar", (bars) =>
      bars.map((bar) => [...bar.children].map((part) => part.clientWidth / bar.clientWidth)),
    );
    for (const [at, name] of wanted.entries()) {
      const thread = table.find((one) => `${one.name} (${one.tid})` === name);
      const states = [thread.running, thread.waiting, thread.ready].filter((time) => time > 0);
      assert.equal(drawn[at].length, states.length, name);
      for (const [part, time] of states.entries())
        assert.ok(Math.abs(drawn[at][part] - time / thread.wall) < 0.02, `${name}: ${drawn[at]}`);
    }
    await page.getByText("All 5 threads").click();
    await sameTable(page, "Threads", said(["report", path, "threads"]));
    await page.locator(".threads").getByRole("button", { name: "mate (11)" }).click();
    await page.waitForFunction(() => location.hash.includes("tid=11"));
    assert.match(page.url(), /#overview\?.*pid=10/);
  });
}

export async function checkAFileLeadsToItsPlace(browser) {
  await onGolden(browser, ["small"], "#overview", async (page) => {
    await answered(page);
    const why = page.locator(".insight details");
    await why.locator("summary").click();
    const [command] = /fathom show \S+ \S+/.exec(await why.innerText());
    assert.match(said(command.split(" ").slice(1)), /The recording is incomplete/);
    // What was lost is nowhere.
    assert.equal(await page.locator(".insight").getByRole("button").count(), 0);
    await page.locator("tr.leads").filter({ hasText: "/data/big" }).click();
    await page.waitForFunction(() => location.hash.startsWith("#timeline"));
    // The file was read from 150 to 250 us; a hundredth is added at both ends.
    assert.match(page.url(), /from=149000&to=251000/);
  });
}

// The boxes of a flame graph are as wide as SQL says that calls took.
export async function checkFlameWidthsAreWhatSqlSays(browser) {
  await onGolden(
    browser,
    ["small"],
    "#flame?flame.weight=time&layer=app&layer=posix&layer=stdio",
    async (page, path) => {
      await answered(page);
      const width = await page.$eval(".flame-picture canvas", (canvas) => canvas.clientWidth);
      const where = "layer IN ('app', 'posix', 'stdio')";
      const [{ total }] = sql(path, `SELECT CAST(sum(self) AS BIGINT) AS total FROM events WHERE ${where}`);
      const [{ step }] = sql(path, "SELECT CAST(sum(dur) AS BIGINT) AS step FROM events WHERE name = 'step'");
      const wanted = (step / total) * width;
      // The heaviest child of the root stands at the left edge of the second row.
      const [colour] = await colours(page, ".flame-picture canvas", [[3, 19]]);
      const [[left, right]] = await stretches(page, ".flame-picture canvas", 19, colour);
      assert.ok(left < 1.5 && Math.abs(right - left - wanted) < 2.5, `${right - left} instead of ${wanted} pixels`);
    },
  );
}

export async function checkFlameSumsAreWhatSqlSays(browser) {
  await onGolden(browser, ["training"], "#flame?flame.mode=sandwich&flame.weight=time", async (page, path) => {
    await answered(page);
    const [, ...rows] = await tableOf(page, "Functions");
    const calls = Object.fromEntries(rows.map((row) => [`${row[0]} ${row[1]}`, row[5]]));
    const counted = sql(path, "SELECT name, layer, count(*) AS n FROM events WHERE tid IS NOT NULL GROUP BY ALL");
    for (const { name, layer, n } of counted) assert.equal(calls[`${name} ${layer}`], String(n), `${name} ${layer}`);
    await page.locator("tr.leads").filter({ hasText: "pread" }).first().focus();
    await page.keyboard.press("Enter");
    await page.locator("figcaption", { hasText: "Callers of pread" }).waitFor();
    assert.equal(await page.locator(".flame-picture").count(), 2);
  });
}

export async function checkFlameIsWalkedByKeysAndSearched(browser) {
  await onGolden(browser, ["small"], "#flame?flame.weight=time", async (page) => {
    await answered(page);
    await page.locator(".flame-picture canvas").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const card = page.locator(".flame-picture .card");
    assert.match(await card.innerText(), /step/);
    await page.keyboard.press("ArrowRight");
    assert.match(await card.innerText(), /load/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show all" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show all" }).waitFor({ state: "detached" });
    await page.getByRole("toolbar").getByRole("searchbox").fill("read");
    await page.waitForFunction(() => /functions?, \d+\.\d %/.test(document.querySelector("output").textContent));
    assert.match(page.url(), /flame\.search=read/);
  });
}

export async function checkTheHeatMapIsWhatSqlSays(browser) {
  await onGolden(browser, ["small"], "#io", async (page, path) => {
    await answered(page);
    const canvas = ".heat-map canvas";
    const { width, height } = await page.$eval(canvas, ({ clientWidth, clientHeight }) => {
      return { width: clientWidth, height: clientHeight };
    });
    const [gutter, axis] = [190, 20];
    const rows = sql(path, "SELECT DISTINCT pid, tid FROM events WHERE bytes > 0 ORDER BY pid, tid").length;
    const middle = (row) => ((row + 0.5) * (height - axis)) / rows;
    const [ground] = await colours(page, canvas, [[width - 4, middle(0)]]);
    // Each thread's first bytes: a cell there has another colour than the ground.
    const firsts = sql(path, "SELECT tid, min(ts) AS ts FROM events WHERE bytes > 0 GROUP BY tid ORDER BY tid");
    const [{ wall }] = sql(path, "SELECT CAST(value AS BIGINT) AS wall FROM run WHERE key = 'duration_ns'");
    const bin = Math.ceil(wall / 240);
    const middleOf = (ts) => gutter + ((Math.floor(ts / bin) + 0.5) / 240) * (width - gutter);
    const places = firsts.flatMap(({ ts }) => [...Array(rows).keys()].map((row) => [middleOf(ts), middle(row)]));
    const seen = await colours(page, canvas, places);
    for (let at = 0; at < firsts.length; ++at) {
      const cells = seen.slice(at * rows, (at + 1) * rows);
      assert.ok(
        cells.some((colour) => colour !== ground),
        `thread ${firsts[at].tid} has a cell at ${firsts[at].ts}`,
      );
    }
    await page.locator(canvas).click({ position: { x: places[0][0], y: middle(0) } });
    await page.waitForFunction(() => location.hash.startsWith("#timeline") && location.hash.includes("tid="));
  });
}

export async function checkFilesAndTheirPlaces(browser) {
  await onGolden(browser, ["small"], "#io", async (page, path) => {
    await answered(page);
    const shown = await tableOf(page, "Files by time");
    const text = tableIn(said(["report", path, "files"]), "Files by time");
    const without = shown.map((row) => row.filter((_, column) => column !== 1));
    assert.deepEqual(without, text);
    assert.equal(shown.find((row) => row[0] === "/data/in")[1], "consecutive");
    await page.locator("tr.leads").filter({ hasText: "/data/in" }).click();
    await page.getByText("Read, by place in the file").waitFor();
    assert.match(page.url(), /io\.file=%2Fdata%2Fin/);
  });
}

export async function checkGpusAndLevels(browser) {
  await onGolden(browser, ["gpu", "explain"], "#gpu", async (page, path) => {
    await answered(page);
    const idle = said(["report", path, "gpu-idle"]);
    await sameTable(page, "What the host did while a GPU was idle", idle);
    await sameTable(page, "Kernels launched", said(["report", path, "kernels", "--by", "device"]));
    await page.getByLabel("recording").first().selectOption({ label: "explain.fathom" });
    await page.keyboard.press("Escape");
    await page.locator("main").focus();
    await page.keyboard.press("6");
    await page.getByText("Where the time of pread went").waitFor();
    const rows = await page.locator(".levels tbody tr").evaluateAll((all) => {
      return all.map((row) => [...row.children].slice(0, 5).map((cell) => cell.textContent));
    });
    assert.equal(rows.length, 14);
    assert.deepEqual(rows[1], ["pread64", "syscall", "2", "97.9 us", "93.7 %"]);
  });
}

export async function checkSqlIsCompletedAskedAndKept(browser) {
  await onGolden(browser, ["small"], "#sql", async (page, path) => {
    // The schema comes when something has been typed already.
    let typed = () => {};
    const waits = new Promise((done) => (typed = done));
    await page.route("**/api/v1/schema*", async (route) => {
      await waits;
      await route.continue();
    });
    await page.reload();
    const field = page.getByRole("textbox", { name: "SQL" });
    await field.click();
    await page.keyboard.type("SELECT name, count(*) AS n FROM eve");
    typed();
    await page
      .getByRole("option", { name: /^events/ })
      .first()
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(" GROUP BY name ORDER BY n DESC, name");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Enter");
    const [, ...rows] = await tableOf(page, "Result");
    const wanted = sql(path, "SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC, name");
    assert.deepEqual(
      rows,
      wanted.map(({ name, n }) => [name, String(n)]),
    );
    await field.fill("SELECT nothing FROM nowhere");
    await page.keyboard.press("Control+Enter");
    await page.locator(".state.failed").waitFor();
    await page.goBack();
    await page.waitForFunction(() => document.querySelector("textarea").value.includes("count(*)"));
    await page.getByRole("columnheader", { name: "name" }).getByRole("button").click();
    const names = async () => (await tableOf(page, "Result")).slice(1).map(([name]) => name);
    const sorted = await names();
    assert.deepEqual(sorted, [...sorted].sort());
    await page.reload();
    await answered(page);
    assert.deepEqual(await names(), sorted, "the address keeps the order");
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes("sort.Result"));
    const unsorted = await names();
    assert.deepEqual(
      unsorted,
      wanted.map(({ name }) => name),
    );
  });
}

export async function checkResourcesHaveAPlotForEachCounter(browser) {
  await onGolden(browser, ["small"], "#resources", async (page, path) => {
    await answered(page);
    const names = sql(path, "SELECT DISTINCT name FROM counters ORDER BY name").map(({ name }) => name);
    const titles = await page.locator(".plot figcaption").allInnerTexts();
    for (const name of names)
      assert.ok(
        titles.some((title) => title.startsWith(name)),
        name,
      );
    assert.equal(titles.length, names.length);
    assert.ok((await page.locator(".plot canvas").count()) >= names.length);
  });
}

// Counters are read once a second: a part between two readings has the growth between them, and its own axis.
export async function checkResourcesOfAPart(browser) {
  await onGolden(browser, ["application"], "#resources?from=1200000000&to=1800000000", async (page) => {
    await answered(page);
    const plot = page.locator("figure.plot").filter({ has: page.getByRole("img", { name: /^cgroup_cpu over time/ }) });
    const csv = (await downloaded(page, plot, "CSV")).bytes.toString();
    assert.equal(csv.trim(), "ts,machine\n1000000000,100\n2000000000,100");
    const svg = (await downloaded(page, plot, "SVG")).bytes.toString();
    const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    for (const text of ["0 %", "50 %", "100 %", "1.4 s", "1.8 s"]) assert.ok(texts.includes(text), texts.join());
    assert.ok(!texts.includes("1.0 s") && !texts.includes("2.0 s"), texts.join());
    const colour = /<(?:polyline|path)[^>]*stroke="(#\w+)"[^>]*stroke-width="1.5"/.exec(svg)[1];
    const drawn = await plot.locator("canvas").first().evaluate(hasColour, colour);
    assert.ok(drawn, `a line of ${colour} is on screen`);
  });
}

// In the browser.
function hasColour(canvas, colour) {
  const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) {
    if (wanted.every((value, part) => Math.abs(data[at + part] - value) < 8) && data[at + 3] > 200) return true;
  }
  return false;
}

// The chart of a statement, as its SVG has it.
async function chartOfSql(page, address, question) {
  await page.goto(`${address.split("?")[0]}#sql?sql.query=${encodeURIComponent(question)}`);
  await answered(page);
  const figure = page.locator("figure.drawn").filter({ hasText: "Chart" });
  return (await downloaded(page, figure, "SVG")).bytes.toString();
}

// An axis reaches below zero where values do, and what is NULL is drawn as nothing.
export async function checkChartsHaveValuesBelowZeroAndNone(browser) {
  await onGolden(browser, ["small"], "#sql", async (page, _path, address) => {
    const lines = await chartOfSql(
      page,
      address,
      "FROM (VALUES (1, 40), (2, -60), (3, NULL), (4, 20), (5, 40), (6, NULL), (7, 10)) AS t(x, n)",
    );
    const texts = [...lines.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
    for (const text of ["-100", "-50", "0", "50"]) assert.ok(texts.includes(text), texts.join());
    const drawn = [...lines.matchAll(/<polyline points="([^"]*)"[^>]*stroke-width="1.5"/g)].map(([, points]) =>
      points.split(" ").map(Number),
    );
    assert.deepEqual(
      drawn.map((points) => points.length / 2),
      [2, 2],
      "a gap where there is no value",
    );
    const zero = Number(/<text x="4" y="([\d.]+)"[^>]*>0</.exec(lines)[1]);
    const [[, above, , below]] = drawn;
    assert.ok(above < zero && Math.abs((below - zero) / (zero - above) - 1.5) < 0.01, `${above} ${zero} ${below}`);
    assert.equal([...lines.matchAll(/<rect x=/g)].length, 1, "a value between two gaps is a dot");

    const bars = await chartOfSql(page, address, "FROM (VALUES ('a', 30), ('b', NULL), ('c', -60)) AS t(name, n)");
    const boxes = [...bars.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"/g)].map(([, ...all]) =>
      all.map(Number),
    );
    const [[left, , plus], [begin, , minus]] = boxes;
    assert.equal(boxes.length, 2, "no bar for NULL");
    assert.ok(Math.abs(begin + minus - left) < 0.1 && Math.abs(minus / plus - 2) < 0.01, JSON.stringify(boxes));
  });
}

export async function checkTwoRecordingsAreCompared(browser) {
  await onGolden(browser, ["training", "small"], "#compare", async (page, path) => {
    await answered(page);
    const text = said(["diff", path, path.replace("training", "small"), "--top", "15"], [0, 1]);
    const [head, ...rows] = await tableOf(page, "Run time");
    assert.deepEqual([head, ...rows], tableIn(text, "Run: time"));
    await page.getByText("Differential flame graph").first().waitFor();
    assert.deepEqual(await page.locator(".compare ul.legend li").allInnerTexts(), [
      "only before",
      "half as much",
      "the same",
      "twice as much",
      "only after",
    ]);
  });
}

async function downloaded(page, figure, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    figure.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

export async function checkWhatIsSeenCanBeSaved(browser) {
  await onGolden(browser, ["small"], "#flame?flame.weight=time", async (page) => {
    await answered(page);
    const flame = page.locator("figure.drawn").first();
    const png = await downloaded(page, flame, "PNG");
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
    const svg = (await downloaded(page, flame, "SVG")).bytes.toString();
    assert.match(svg, /^<svg [^>]*>[\s\S]*>step<\/text>[\s\S]*<\/svg>\s*$/);
    const csv = (await downloaded(page, flame, "CSV")).bytes.toString();
    assert.match(csv, /^depth,name,layer,self,total,calls\n/);
    await page.keyboard.press("1");
    await answered(page);
    const table = page.locator("figure.data-table").filter({ hasText: "Top functions" });
    const small = page.locator("figure.sparkline").first();
    await small.hover();
    assert.match((await downloaded(page, small, "SVG")).bytes.toString(), /^<svg [\s\S]*<polyline[\s\S]*<\/svg>\s*$/);
    assert.match((await downloaded(page, small, "CSV")).bytes.toString(), /^place,[^\n]+\n1,/);
    const { name, bytes } = await downloaded(page, table, "CSV");
    assert.equal(name, "Top functions.csv");
    assert.match(bytes.toString(), /^name,layer,self,share[^\n]*\nstep,app,477000,/);
    await page.keyboard.press("7");
    await answered(page);
    const plot = page.locator("figure.plot").first();
    const lines = (await downloaded(page, plot, "SVG")).bytes.toString();
    assert.match(lines, /^<svg [\s\S]*<(polyline|path)[\s\S]*<\/svg>\s*$/);
  });
}

const all = ["overview", "flame", "io", "gpu", "explain", "resources", "compare", "sql?sql.query=FROM+events"];

export async function checkViewsAreAccessible(browser) {
  for (const dark of [false, true]) {
    await onGolden(
      browser,
      ["small", "training"],
      "#overview",
      async (page, _path, address) => {
        for (const view of all) {
          await page.goto(`${address.split("?")[0]}#${view}`);
          await answered(page);
          assert.deepEqual(await accessProblems(page), [], view);
        }
      },
      { dark, bypassCSP: true },
    );
  }
}

export async function checkViewsFitTheScreen(browser) {
  for (const width of [1280, 2560]) {
    await onGolden(
      browser,
      ["small", "training"],
      "#overview",
      async (page, _path, address) => {
        for (const view of [...all, "timeline"]) {
          await page.goto(`${address.split("?")[0]}#${view}`);
          if (view === "timeline") await settled(page);
          else await answered(page);
          const main = await page.$eval("main", ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
          assert.ok(main <= 0, `${view} is ${main} pixels too wide at ${width}`);
          // A server that still makes its index says 503, and is asked again.
          const problems = page.problems.filter((problem) => !problem.includes("status of 503"));
          assert.deepEqual(problems, [], view);
        }
      },
      { size: { width, height: 1000 } },
    );
  }
}

// A file whose name is markup, and what comes of it in each view that names files.
export async function checkNamesStayText(browser) {
  const { address } = await realPage();
  const page = await openPage(browser, `${address}#overview`);
  page.on("dialog", () => page.problems.push("a name became code"));
  try {
    const question = "SELECT DISTINCT file FROM events WHERE file LIKE '%onerror%'";
    for (const view of ["overview", "io", `sql?sql.query=${encodeURIComponent(question)}`]) {
      await page.goto(`${address.split("?")[0]}#${view}`);
      await answered(page);
      await page.locator("td", { hasText: hostileName }).first().waitFor();
    }
    assert.equal(await page.locator("img").count(), 0);
    assert.deepEqual(page.problems, []);
  } finally {
    await page.context().close();
  }
}
