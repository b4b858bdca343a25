// SPDX-License-Identifier: MIT
// One recording's tree: left heavy, in time order or inverted.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { leftHeavy, timeOrder } from "../../logic/flame_layout";
import { findMatches } from "../../logic/flame_search";
import { keyOf, type FlameTree } from "../../logic/flame_tree";
import { changeSetting } from "../../state/selection";
import { shade } from "../../theme/theme";
import { fillsOf } from "./colours";
import { Card, goToBox } from "./numbers";
import { FlamePicture } from "./picture";
import { chooseFunction, mode, search } from "./settings";

export function Single({ tree }: { tree: FlameTree }): JSX.Element {
  const inTime = mode.value === "time";
  const layout = useMemo(() => (inTime ? timeOrder(tree) : leftHeavy(tree)), [tree, inTime]);
  const matches = useMemo(() => findMatches(tree, search.value), [tree, search.value]);
  const fill = useMemo(() => fillsOf(tree, shade.value), [tree, shade.value]);
  return (
    <FlamePicture
      title="Flame graph"
      zoomName="flame.zoom"
      tree={tree}
      layout={layout}
      fill={fill}
      matched={matches?.node}
      onPlace={(node) => goToBox(tree, node)}
      card={(node) => <Card tree={tree} node={node} />}
      onFunction={(node) => {
        changeSetting("flame.mode", "sandwich", "push");
        chooseFunction(tree, keyOf(tree.nodes, node));
      }}
    />
  );
}
