// SPDX-License-Identifier: MIT
// speedscope's importer, out of the page that its package holds: what its page would show, without a browser. Prints
// each file's profiles as JSON: name, unit, total weight, frames, and how often each function was entered.
//
// usage: node speedscope_import.mjs SCRIPT_OF_THE_PAGE FILE...
import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";

const [page, ...files] = process.argv.slice(2);
const script = readFileSync(page, "utf8");

// The page loads its importer when it is first needed, and draws itself at its end: that is left out.
const needed = script.match(/Promise\.resolve\(\)\.then\(\(\)=>\((\w+)\(\),(\w+)\)\)/g).at(-1);
const end = script.indexOf("console.log(`speedscope v");
if (!needed || end < 0) throw new Error("this script is not laid out as that of speedscope 1.25");

const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : nothing),
  set: () => true,
  apply: () => nothing,
  construct: () => nothing,
});
const window = { location: { protocol: "file:", href: "", hash: "" }, addEventListener() {}, devicePixelRatio: 1 };
console.log = () => {}; // which format it takes a file for
const body = `${script.slice(0, end)} loaded(${needed});})();`;
const importer = await new Promise((loaded) =>
  new Function("window", "document", "localStorage", "loaded", body)(window, nothing, nothing, loaded),
);

function summary(profile) {
  const entered = {};
  let calls = 0;
  profile.forEachCall(
    (node) => {
      entered[node.frame.name] = (entered[node.frame.name] ?? 0) + 1;
      calls++;
    },
    () => {},
  );
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), calls, entered };
}

const groups = [];
for (const file of files) {
  const content = readFileSync(file);
  const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.length);
  const group = await importer.importProfilesFromArrayBuffer(basename(file), bytes);
  groups.push(group === null ? null : group.profiles.map(summary));
}
writeSync(1, JSON.stringify(groups));
process.exit(0);
