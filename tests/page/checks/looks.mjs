// SPDX-License-Identifier: MIT
// The views as pictures, of recordings whose numbers are the same everywhere. `--update` draws them anew: look at them.
import { onGolden } from "../golden_pages.mjs";
import { answered, looksLike } from "../kit.mjs";

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
  ["compare", ["training", "small"], "compare"],
  ["sql", ["small"], `sql?sql.query=${encodeURIComponent(question)}`],
];

const onDark = ["overview", "flame", "io", "compare"]; // those that choose colours of their own

async function checkLooks(browser, dark) {
  for (const [name, recordings, hash] of looks.filter(([view]) => !dark || onDark.includes(view))) {
    await onGolden(
      browser,
      recordings,
      `#${hash}`,
      async (page) => {
        await answered(page);
        // How long a statement took, and the folder of the recordings, are others each time.
        await page.addStyleTag({ content: "p.note[role=status], .compare .words { visibility: hidden }" });
        await looksLike(page, `${name}-${dark ? "dark" : "light"}`, "main", 0.03);
      },
      { dark, size, bypassCSP: true },
    );
  }
}

export async function checkViewsLookAsTheyDid(browser) {
  await checkLooks(browser, false);
}

export async function checkDarkViewsLookAsTheyDid(browser) {
  await checkLooks(browser, true);
}
