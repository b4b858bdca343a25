// SPDX-License-Identifier: MIT
// Two recordings' trees as one, coloured by what changed.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { changeColour, rgbOf } from "../../logic/colours";
import { changeOf, diffTrees, type TreeDiff } from "../../logic/flame_diff";
import { leftHeavy } from "../../logic/flame_layout";
import { findMatches } from "../../logic/flame_search";
import type { FlameTree } from "../../logic/flame_tree";
import { inSlices } from "../../logic/slices";
import { Loading } from "../../shell/states";
import { palette } from "../../theme/theme";
import { DiffLegend } from "./legend";
import { DiffCard, layerOf, measureOfUnit, nameOf } from "./numbers";
import { FlamePicture } from "./picture";
import { byShare, search, widthOf } from "./settings";

// Of large trees it takes longer than a frame: the one before stays meanwhile.
function useDiff(before: FlameTree, after: FlameTree): TreeDiff | null {
  const [diff, setDiff] = useState<TreeDiff | null>(null);
  useEffect(() => {
    const control = new AbortController();
    inSlices(diffTrees(before, after), control.signal, setDiff);
    return () => control.abort();
  }, [before, after]);
  return diff;
}

export function Difference({ before, after }: { before: FlameTree; after: FlameTree }): JSX.Element {
  const diff = useDiff(before, after);
  return diff ? <DiffPicture diff={diff} /> : <Loading what="Comparing" />;
}

function DiffPicture({ diff }: { diff: TreeDiff }): JSX.Element {
  const side = widthOf.value === "before" ? diff.before : diff.after;
  const layout = useMemo(() => leftHeavy(diff.tree, side.total), [diff, side]);
  const matches = useMemo(() => findMatches(diff.tree, search.value), [diff, search.value]);
  const same = palette.value.line;
  const shares = byShare.value === "1";
  const fill = useMemo(
    () => (node: number) => changeColour(changeOf(diff, node, shares), rgbOf(same)),
    [diff, shares, same],
  );
  const measure = measureOfUnit(diff.tree.unit);
  return (
    <>
      <DiffLegend />
      <FlamePicture
        title="Differential flame graph"
        tree={diff.tree}
        layout={layout}
        fill={fill}
        matched={matches?.node}
        card={(node) => <DiffCard diff={diff} node={node} />}
        table={() => ({
          columns: [
            { name: "name", measure: "none" },
            { name: "layer", measure: "none" },
            { name: "before", measure },
            { name: "after", measure },
          ],
          rows: diff.tree.nodes.parent.map((_, at) => {
            return [nameOf(diff.tree, at), layerOf(diff.tree, at), diff.before.total[at]!, diff.after.total[at]!];
          }),
        })}
      />
    </>
  );
}
