// SPDX-License-Identifier: MIT
// The flame graph itself: a click or Enter zooms, arrows walk, Escape goes back out.
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import { boxAt, boxesIn, frameOf, neighbour, type Layout } from "../../logic/flame_layout";
import type { FlameTree } from "../../logic/flame_tree";
import type { TableData } from "../../logic/table";
import { palette } from "../../theme/theme";
import { Drawn, type Point } from "../parts/picture";
import { flameTable } from "./numbers";
import { paintFlame, ROW, type Paint } from "./paint";

export interface FlameProps {
  title: string;
  tree: FlameTree;
  layout: Layout;
  fill: (node: number) => string;
  matched: readonly boolean[] | undefined;
  upwards?: boolean;
  card: (node: number) => ComponentChildren;
  onFunction?: (node: number) => void; // asked for by "s"
  onPlace?: (node: number) => void; // asked for by "t"
  table?: () => TableData;
}

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] as const;
type Arrow = (typeof ARROWS)[number];

function isArrow(key: string): key is Arrow {
  return (ARROWS as readonly string[]).includes(key);
}

const MIRRORED: Partial<Record<Arrow, Arrow>> = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp" };

export function FlamePicture(props: FlameProps): JSX.Element {
  const { title, tree, layout, fill, matched, upwards = false, card, onFunction, onPlace } = props;
  const [zoom, setZoom] = useState(-1);
  const [focused, setFocused] = useState(-1);
  const [hovered, setHovered] = useState<{ node: number; at: Point } | null>(null);
  const [seen, setSeen] = useState(layout);
  if (seen !== layout) {
    // Numbers of nodes mean nothing in another tree.
    setSeen(layout);
    setZoom(-1);
    setFocused(-1);
    setHovered(null);
  }
  const colours = palette.value;
  const paint = useMemo<Paint>(
    () => ({ tree, fill, matched, focused, upwards, levels: layout.levels }),
    [tree, fill, matched, focused, upwards, layout],
  );
  const boxes = (width: number) => boxesIn(layout, frameOf(layout, zoom), width);
  const draw = useMemo(
    () => (pen: Parameters<typeof paintFlame>[0], width: number) => paintFlame(pen, boxes(width), paint, colours),
    [layout, zoom, paint, colours],
  );
  const nodeAt = (at: Point, width: number): number => {
    const row = Math.floor(at.y / ROW);
    return boxAt(boxes(width), at.x, upwards ? layout.levels - 1 - row : row)?.node ?? -1;
  };
  const zoomTo = (node: number): void => setZoom(node === zoom ? -1 : node);
  const onKey = (event: TargetedKeyboardEvent<HTMLCanvasElement>): void => {
    const { key } = event;
    if (isArrow(key)) setFocused(neighbour(layout, tree.nodes, focused, (upwards && MIRRORED[key]) || key));
    else if (key === "Enter" && focused >= 0) zoomTo(focused);
    else if (key === "Escape") setZoom(-1);
    else if (key === "s" && focused >= 0 && onFunction) onFunction(focused);
    else if (key === "t" && focused >= 0 && onPlace) onPlace(focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const shown = hovered?.node ?? focused;
  return (
    <div class="flame-picture">
      <Drawn
        title={title}
        label={`${title}: ${tree.nodes.parent.length} boxes in ${layout.levels} levels. Arrows walk, Enter zooms, Escape shows all${onFunction ? ", s shows callers and callees" : ""}${onPlace ? ", t leads to the timeline" : ""}.`}
        height={Math.max(layout.levels, 1) * ROW}
        draw={draw}
        table={props.table ?? (() => flameTable(tree))}
        onPoint={(at, width) => {
          const node = at ? nodeAt(at, width) : -1;
          setHovered(at && node >= 0 ? { node, at } : null);
        }}
        onPick={(at, width) => {
          const node = nodeAt(at, width);
          if (node < 0) return;
          setFocused(node);
          zoomTo(node);
        }}
        onKey={onKey}
      />
      <div class="tools">
        {zoom >= 0 && (
          <button type="button" class="zoom-out" onClick={() => setZoom(-1)}>
            Show all
          </button>
        )}
        {focused >= 0 && onFunction && (
          <button type="button" title="Key s" onClick={() => onFunction(focused)}>
            Callers and callees
          </button>
        )}
        {focused >= 0 && onPlace && (
          <button type="button" title="Key t" onClick={() => onPlace(focused)}>
            Show in the timeline
          </button>
        )}
      </div>
      <div
        class={hovered ? "card floating" : "card"}
        aria-live="polite"
        {...(hovered ? { style: { left: `${hovered.at.x + 12}px`, top: `${hovered.at.y + 40}px` } } : {})}
      >
        {shown >= 0 && shown < tree.nodes.parent.length ? card(shown) : "Point at a box, or walk with arrows."}
      </div>
    </div>
  );
}
