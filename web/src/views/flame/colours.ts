// SPDX-License-Identifier: MIT
// The fill of a box: its layer's colour, in a tint of its own so that neighbours differ.
import { hexOf, mixed, rgbOf, spread } from "../../logic/colours";
import type { FlameTree } from "../../logic/flame_tree";
import { hasColour, layerColour, series, type Shade } from "../../theme/layers";

function hueOf(layer: string, shade: Shade): string {
  if (hasColour(layer)) return layerColour(layer, shade);
  // A module of sampled code has no layer: its name chooses a colour.
  const colours = series[shade];
  return layer === "" ? layerColour("cpu", shade) : colours[Math.floor(spread(layer) * colours.length)]!;
}

export function fillsOf(tree: FlameTree, shade: Shade): (node: number) => string {
  const fills = new Map<string, string>();
  return (node) => {
    const { name, layer } = tree.nodes;
    const id = `${name[node]} ${layer[node]}`;
    let fill = fills.get(id);
    if (fill === undefined) {
      const said = tree.names[layer[node]!] ?? "";
      // The root is nobody's code, also where it stands among callers.
      const isRoot = said === "" && tree.names[name[node]!] === "all";
      const hue = rgbOf(isRoot ? layerColour("wait", shade) : hueOf(said, shade));
      const tint = spread(tree.names[name[node]!] ?? "") * 0.3;
      fill = hexOf(mixed(hue, shade === "light" ? [255, 255, 255] : [0, 0, 0], tint));
      fills.set(id, fill);
    }
    return fill;
  };
}
