// SPDX-License-Identifier: MIT
// A box of a flame graph by the names that lead to it. Numbers of nodes mean nothing in another tree, as that of a recording
// that has grown; names do.
import type { FlameTree } from "./flame_tree";

function wordOf(tree: FlameTree, node: number): string {
  const { name, layer } = tree.nodes;
  return `${tree.names[name[node]!] ?? ""}\t${tree.names[layer[node]!] ?? ""}`;
}

// From the root on, a line for each function. "": no node.
export function pathOf(tree: FlameTree, node: number): string {
  const words: string[] = [];
  for (let at = node; at >= 0; at = tree.nodes.parent[at]!) words.unshift(wordOf(tree, at));
  return words.join("\n");
}

// -1: there is none. Parents stand before their children, so one pass finds the way; of equal siblings the first is taken.
export function nodeOfPath(tree: FlameTree, path: string): number {
  if (path === "") return -1;
  const words = path.split("\n");
  let [place, level] = [-1, 0];
  for (let at = 0; at < tree.nodes.parent.length; ++at) {
    if (tree.nodes.parent[at] !== place || wordOf(tree, at) !== words[level]) continue;
    place = at;
    level += 1;
    if (level === words.length) return at;
  }
  return -1;
}
