// SPDX-License-Identifier: MIT
// The views as pictures, of recordings whose numbers are the same everywhere. `--update` draws them anew: look at them.
import { FleetServer } from "../fleet_server.mjs";
import { golden } from "../golden_pages.mjs";
import { answered, looksLike, openPage } from "../kit.mjs";
import { realPage } from "../real.mjs";

const size = { width: 1000, height: 620 };
const question = "SELECT layer, name, ts, dur FROM events ORDER BY ts LIMIT 12";

const looks = [
  ["overview", ["small"], "overview"],
  ["flame", ["training"], "flame?flame.weight=time"],
  ["sandwich", ["small"], "flame?flame.weight=time&flame.mode=sandwich&flame.function=load%09app"],
  ["io", ["small"], "io?io.file=%2Fdata%2Fin"],
  ["gpu", ["gpu"], "gpu"],
  ["explain", ["explain"], "explain"],
  ["resources", ["small"], "resources"],
  ["compare", ["small", "training"], "compare"],
  ["sql", ["small"], `sql?sql.query=${encodeURIComponent(question)}`],
];

// One page for all: to open one takes longer than to lead it elsewhere.
async function checkLooks(browser, dark) {
  const page = await openPage(browser, "about:blank", { dark, size, bypassCSP: true });
  try {
    for (const [name, recordings, hash] of looks) {
      const { address } = await realPage(() => recordings.map(golden));
      await page.goto(`${address}#${hash}`);
      await answered(page);
      // How long a statement took, and the folder of the recordings, are others each time.
      await page.addStyleTag({ content: "p.note[role=status], .compare .words { visibility: hidden }" });
      await looksLike(page, `${name}-${dark ? "dark" : "light"}`, "main", 0.03);
    }
  } finally {
    await page.context().close();
  }
}

// A job with two agents and four records of a benchmark.
async function filled(server) {
  await server.post("/jobs", { name: "nightly", info: "every night on two machines" });
  const records = [1, 1.1, 0.9, 2].map((wall) => ({
    command: ["sort", "a big file"],
    runs: [{ exit: 0, wall, user: wall / 2, system: 0.1, max_rss: 4096 }],
  }));
  await server.post("/jobs/nightly/benchmarks", { client: "node7", seq: 1, records });
  const rows = ["cycles", "instructions"].map((event, at) => ({
    node: "main",
    exec: "app",
    event,
    count: 1234 * (at + 1),
  }));
  await server.post("/jobs/nightly/profile", { client: "node8", seq: 1, rows });
}

export async function checkFleetLooksAsItDid(browser) {
  const server = new FleetServer();
  try {
    const address = await server.start();
    await filled(server);
    for (const dark of [false, true]) {
      const page = await openPage(browser, `${address}#fleet?fleet.job=nightly`, { dark, size, bypassCSP: true });
      await page.getByText("connected", { exact: true }).waitFor();
      await answered(page);
      await looksLike(page, `fleet-${dark ? "dark" : "light"}`, "main", 0.03);
      await page.context().close();
    }
  } finally {
    await server.stop();
  }
}

export async function checkViewsLookAsTheyDid(browser) {
  await checkLooks(browser, false);
}

export async function checkDarkViewsLookAsTheyDid(browser) {
  await checkLooks(browser, true);
}
