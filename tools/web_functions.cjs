// SPDX-License-Identifier: MIT
// Lists the functions of the page's sources that have more lines than they may: for tools/check_web.py, which has no
// parser of TypeScript. That of prettier is here anyway, so nothing else has to be fetched.
// usage: node tools/web_functions.cjs PACKAGES LINES FILE...   prints FILE:LINE: NAME has N lines
"use strict";
const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const NO_CHILDREN = new Set(["loc", "range", "tokens", "comments", "parent"]);

// A function without a name of its own has that of what it is the value of: a constant, a method, a property.
function* functionsIn(node, outerName) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const each of node) yield* functionsIn(each, outerName);
    return;
  }
  const name = node.id?.name ?? node.key?.name ?? outerName;
  if (FUNCTIONS.has(node.type))
    yield { name, line: node.loc.start.line, lines: node.loc.end.line - node.loc.start.line + 1 };
  for (const [key, child] of Object.entries(node)) if (!NO_CHILDREN.has(key)) yield* functionsIn(child, name);
}

async function main([packages, most, ...files]) {
  const { parsers } = require(resolve(packages, "prettier/plugins/typescript.js"));
  for (const file of files) {
    const tree = await parsers.typescript.parse(readFileSync(file, "utf8"), { filepath: file });
    for (const { name, line, lines } of functionsIn(tree, "a function"))
      if (lines > Number(most)) console.log(`${file}:${line}: ${name} has ${lines} lines`);
  }
}

main(process.argv.slice(2));
