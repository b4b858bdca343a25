// SPDX-License-Identifier: MIT
// What the flame view keeps in the address.
import { computed } from "@preact/signals";
import { recording } from "../../state/page";
import { searchText } from "../../state/search";
import { changeSetting, setting } from "../../state/selection";
import type { FlameTree, FunctionKey } from "../../logic/flame_tree";

export type Mode = "left" | "time" | "inverted" | "sandwich" | "diff";

export const mode = setting("flame.mode", "left");
const chosenWeight = setting("flame.weight", "");
// Samples tell of everything that ran, recorded calls only of themselves.
export const usualWeight = computed(() => {
  const sampled = recording.value?.layers.some(({ name, events }) => name === "cpu" && events > 0);
  return sampled ? "cpu" : "time";
});
export const weight = computed(() => chosenWeight.value || usualWeight.value);
const ownSearch = setting("flame.search", "");
// The field of the frame counts too.
export const search = computed(() => searchText.value || ownSearch.value);
export const against = setting("flame.against", "");
export const chosenFunction = setting("flame.function", "");
export const byShare = setting("flame.shares", "");
export const widthOf = setting("flame.width", "after");

// A function in the address: its name, and its layer behind a tab.
export function chooseFunction(tree: FlameTree, key: FunctionKey): void {
  const layer = tree.names[key.layer] ?? "";
  changeSetting("flame.function", `${tree.names[key.name] ?? ""}\t${layer}`, "push");
}

export function functionIn(tree: FlameTree, said: string): FunctionKey | undefined {
  const [name = "", layer = ""] = said.split("\t");
  const key = { name: tree.names.indexOf(name), layer: layer === "" ? -1 : tree.names.indexOf(layer) };
  if (said === "" || key.name < 0) return undefined;
  const at = tree.nodes.name.findIndex((place, node) => {
    return place === key.name && (tree.names[tree.nodes.layer[node]!] ?? "") === layer;
  });
  return at < 0 ? undefined : { name: key.name, layer: tree.nodes.layer[at]! };
}
