// SPDX-License-Identifier: MIT
// The flame graph itself: a click or Enter zooms, arrows walk, Escape goes back out.
import { useComputed } from "@preact/signals";
import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Pen } from "../../draw/pen";
import { boxAt, boxesIn, frameOf, neighbour, type Layout } from "../../logic/flame_layout";
import { nodeOfPath, pathOf } from "../../logic/flame_path";
import type { FlameTree } from "../../logic/flame_tree";
import type { TableData } from "../../logic/table";
import { counted } from "../../logic/units";
import { changeSetting, selection } from "../../state/selection";
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
  zoomName?: string; // of the setting that keeps the zoom
}

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] as const;
type Arrow = (typeof ARROWS)[number];

function isArrow(key: string): key is Arrow {
  return (ARROWS as readonly string[]).includes(key);
}

const MIRRORED: Partial<Record<Arrow, Arrow>> = { ArrowUp: "ArrowDown", ArrowDown: "ArrowUp" };

// In the address where the picture has a name there; else as long as the picture is shown.
function useZoom(name: string | undefined): [string, (path: string) => void] {
  const own = useState("");
  const kept = useComputed(() => (name ? (selection.value.settings[name] ?? "") : "")).value;
  return name ? [kept, (path) => changeSetting(name, path || null, "push")] : own;
}

interface Hovered {
  at: Point;
  width: number;
}

interface FlameState {
  zoom: number; // the node that has all of the width; -1: none
  focused: number; // the node that keys move from; -1: none
  shown: number; // the node whose card is seen; -1: none
  hovered: Hovered | null;
  draw: (pen: Pen, width: number) => void;
  nodeAt: (at: Point, width: number) => number;
  setZoom: (node: number) => void;
  setFocused: (node: number) => void;
  setHovered: (hovered: Hovered | null) => void;
  zoomTo: (node: number) => void; // and out again where it is zoomed to already
}

// Zoom and focus are kept by names, so that they stay where they are when a recording that is being made grows: another
// answer numbers its nodes anew.
function useFlame(props: FlameProps): FlameState {
  const { tree, layout, fill, matched, upwards = false } = props;
  const [zoomPath, setZoomPath] = useZoom(props.zoomName);
  const [focusPath, setFocusPath] = useState("");
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const zoom = useMemo(() => nodeOfPath(tree, zoomPath), [tree, zoomPath]);
  const focused = useMemo(() => nodeOfPath(tree, focusPath), [tree, focusPath]);
  const setZoom = (node: number): void => setZoomPath(pathOf(tree, node));
  const setFocused = (node: number): void => setFocusPath(pathOf(tree, node));
  const colours = palette.value;
  const paint = useMemo<Paint>(
    () => ({ tree, fill, matched, focused, upwards, levels: layout.levels }),
    [tree, fill, matched, focused, upwards, layout],
  );
  const boxes = (width: number) => boxesIn(layout, frameOf(layout, zoom), width);
  // The same function for the same picture: another one is drawn again.
  const draw = useMemo(
    () => (pen: Pen, width: number) => paintFlame(pen, boxes(width), paint, colours),
    [layout, zoom, paint, colours],
  );
  const nodeAt = (at: Point, width: number): number => {
    const row = Math.floor(at.y / ROW);
    return boxAt(boxes(width), at.x, upwards ? layout.levels - 1 - row : row)?.node ?? -1;
  };
  const zoomTo = (node: number): void => setZoom(node === zoom ? -1 : node);
  const pointed = hovered ? nodeAt(hovered.at, hovered.width) : -1;
  const shown = pointed >= 0 ? pointed : focused;
  return { zoom, focused, shown, hovered, draw, nodeAt, setZoom, setFocused, setHovered, zoomTo };
}

// Keys that mean nothing here go on to the page.
function keysOf(props: FlameProps, flame: FlameState): (event: TargetedKeyboardEvent<HTMLCanvasElement>) => void {
  const { tree, layout, upwards = false, onFunction, onPlace } = props;
  const { focused } = flame;
  return (event) => {
    const { key } = event;
    if (isArrow(key)) flame.setFocused(neighbour(layout, tree.nodes, focused, (upwards && MIRRORED[key]) || key));
    else if (key === "Enter" && focused >= 0) flame.zoomTo(focused);
    else if (key === "Escape") flame.setZoom(-1);
    else if (key === "s" && focused >= 0 && onFunction) onFunction(focused);
    else if (key === "t" && focused >= 0 && onPlace) onPlace(focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

function Tools({ props, flame }: { props: FlameProps; flame: FlameState }): JSX.Element {
  const { onFunction, onPlace } = props;
  const { zoom, focused } = flame;
  return (
    <div class="tools">
      {zoom >= 0 && (
        <button type="button" class="zoom-out" onClick={() => flame.setZoom(-1)}>
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
  );
}

export function FlamePicture(props: FlameProps): JSX.Element {
  const { title, tree, layout, card, onFunction, onPlace } = props;
  const flame = useFlame(props);
  const onKey = keysOf(props, flame);
  const { shown, hovered, nodeAt } = flame;
  return (
    <div class="flame-picture">
      <Drawn
        title={title}
        label={`${title}: ${counted(tree.nodes.parent.length, "box", "boxes")} in ${counted(layout.levels, "level")}. Arrows walk, Enter zooms, Escape shows all${onFunction ? ", s shows callers and callees" : ""}${onPlace ? ", t leads to the timeline" : ""}.`}
        height={Math.max(layout.levels, 1) * ROW}
        draw={flame.draw}
        table={props.table ?? (() => flameTable(tree))}
        onPoint={(at, width) => {
          flame.setHovered(at && nodeAt(at, width) >= 0 ? { at, width } : null);
        }}
        onPick={(at, width) => {
          const node = nodeAt(at, width);
          if (node < 0) return;
          flame.setFocused(node);
          flame.zoomTo(node);
        }}
        onKey={onKey}
      />
      <Tools props={props} flame={flame} />
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
