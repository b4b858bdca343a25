// SPDX-License-Identifier: MIT
// Which functions a search means, and how much of the whole they and what they call take.
import type { FlameTree } from "./flame_tree";

export interface Matches {
  node: boolean[];
  weight: number; // a match inside a match counts once
  share: number; // of the tree's total, 0 to 1
  functions: number;
}

// A text, or a regular expression between slashes; whether letters are capital does not matter. An
// expression that is not finished matches nothing.
export function matcher(search: string): (name: string) => boolean {
  const expression = /^\/(.+)\/$/.exec(search)?.[1];
  if (expression === undefined) {
    const wanted = search.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }
  try {
    const compiled = new RegExp(expression, "i");
    return (name) => compiled.test(name);
  } catch {
    return () => false;
  }
}

export function findMatches(tree: FlameTree, search: string): Matches | undefined {
  if (search.trim() === "") return undefined;
  const wanted = tree.names.map(matcher(search.trim()));
  const { parent, name, total } = tree.nodes;
  const node = name.map((at) => wanted[at]!);
  const inside: boolean[] = [];
  let weight = 0;
  parent.forEach((above, at) => {
    const covered = above >= 0 && inside[above]!;
    if (node[at]! && !covered) weight += total[at]!;
    inside.push(node[at]! || covered);
  });
  const functions = new Set(name.filter((_, at) => node[at]!)).size;
  return { node, weight, share: tree.total > 0 ? weight / tree.total : 0, functions };
}
