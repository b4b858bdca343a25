// SPDX-License-Identifier: MIT
// Cells by row and time. The cells are painted as pixels of a small picture that is then stretched,
// so that a hundred thousand of them cost as much as one.
import type { JSX, RefObject, TargetedKeyboardEvent } from "preact";
import { useSignalEffect, useSignal, type Signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { placeIn, sharpContext, useSize, type Size } from "../../draw/canvas";
import { CanvasPen, type Pen } from "../../draw/pen";
import { cellAt, shadeOf } from "../../logic/bins";
import { heatColours, hexOf, rgbOf, type Rgb } from "../../logic/colours";
import { escapeName } from "../../logic/escape";
import { pixelsOf, SHADES, type HeatCells } from "../../logic/heat";
import type { TableData } from "../../logic/table";
import { counted, humanNs, humanNumber, type Measure } from "../../logic/units";
import { palette, shade, type Palette } from "../../theme/theme";
import { marks, moment, xOf } from "../../timeline/camera";
import { SaveBar } from "./save_bar";

const GUTTER = 190; // for the names of rows
const AXIS = 20;
const LABEL = 50; // pixels of a time

export interface Cell {
  column: number;
  row: number;
}

export interface HeatMapProps {
  title: string;
  heat: HeatCells;
  rowName: (row: number) => string;
  from: number; // ns, of the first column
  width: number; // ns, of a column
  measure: Measure;
  rowHeight?: number;
  logarithmic: boolean;
  leadsTo: string;
  onCell: (cell: Cell) => void;
}

interface Plan {
  props: HeatMapProps;
  colours: readonly Rgb[];
  theme: Palette;
  focused: Cell | null;
  height: number;
}

function drawNames(pen: Pen, { props, theme, height }: Plan): void {
  const rowHeight = height / Math.max(props.heat.rows, 1);
  const every = Math.ceil(14 / rowHeight);
  for (let row = 0; row < props.heat.rows; row += every) {
    const name = escapeName(props.rowName(row));
    const text = name.length > 30 ? `…${name.slice(-29)}` : name;
    pen.text(text, 2, (row + 0.5) * rowHeight, theme.text, 11);
  }
}

function drawAxis(pen: Pen, width: number, { props, theme, height }: Plan): void {
  const camera = { from: props.from, to: props.from + props.width * props.heat.columns };
  const { step, times } = marks(camera, width - GUTTER, 120);
  for (const time of times) {
    const x = GUTTER + xOf(camera, time, width - GUTTER);
    pen.box(Math.min(x, width - 1), height, 1, 4, theme.faint);
    if (x < width - LABEL) pen.text(moment(time, step), x + 3, height + AXIS / 2 + 2, theme.faint, 11);
  }
}

function drawFocus(pen: Pen, width: number, { props, theme, height, focused }: Plan): void {
  if (!focused) return;
  const [w, h] = [(width - GUTTER) / props.heat.columns, height / props.heat.rows];
  const [x, y] = [GUTTER + focused.column * w, focused.row * h];
  pen.line([x, y, x + w, y, x + w, y + h, x, y + h, x, y], theme.text, 2);
}

// Where there is no canvas, each cell is a box.
function drawBoxes(pen: Pen, width: number, { props, colours, height }: Plan): void {
  const { heat, logarithmic } = props;
  const [w, h] = [(width - GUTTER) / heat.columns, height / heat.rows];
  heat.cells.forEach((row, y) => {
    row.forEach((value, x) => {
      const at = shadeOf(value, heat.most, colours.length, logarithmic);
      if (at > 0) pen.box(GUTTER + x * w, y * h, w, h, hexOf(colours[at]!));
    });
  });
}

function drawPixels(canvas: HTMLCanvasElement, width: number, plan: Plan): void {
  const { heat, logarithmic } = plan.props;
  const context = sharpContext(canvas, { width, height: plan.height + AXIS });
  const pen = new CanvasPen(context);
  pen.box(0, 0, width, plan.height + AXIS, plan.theme.back);
  if (heat.columns > 0 && heat.rows > 0) {
    const small = document.createElement("canvas");
    [small.width, small.height] = [heat.columns, heat.rows];
    const pixels = pixelsOf(heat, plan.colours, logarithmic);
    small.getContext("2d")!.putImageData(new ImageData(pixels, heat.columns, heat.rows), 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, GUTTER, 0, width - GUTTER, plan.height);
  }
  drawNames(pen, plan);
  drawAxis(pen, width, plan);
  drawFocus(pen, width, plan);
}

function tableOf(props: HeatMapProps): TableData {
  const { heat, rowName, from, width, measure } = props;
  const rows = heat.cells.flatMap((cells, row) => {
    return cells.flatMap((value, column) => (value > 0 ? [[rowName(row), from + column * width, value]] : []));
  });
  return {
    columns: [
      { name: "row", measure: "none" },
      { name: "ts", measure: "ns" },
      { name: "value", measure },
    ],
    rows,
  };
}

const MOVES: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function moved(cell: Cell | null, key: string, heat: HeatCells): Cell | null {
  const move = MOVES[key];
  if (!move) return null;
  const inside = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
  if (!cell) return { column: 0, row: 0 };
  return { column: inside(cell.column + move[0], heat.columns), row: inside(cell.row + move[1], heat.rows) };
}

function CellCard({ props, cell }: { props: HeatMapProps; cell: Cell }): JSX.Element {
  const value = props.heat.cells[cell.row]?.[cell.column] ?? 0;
  const begin = props.from + cell.column * props.width;
  return (
    <>
      <b>{escapeName(props.rowName(cell.row))}</b>
      <span>
        {humanNs(begin)} to {humanNs(begin + props.width)}
      </span>
      <span>{humanNumber(value, props.measure)}</span>
    </>
  );
}

// The same object for the same picture: another one is drawn again.
function usePlan(props: HeatMapProps, focused: Cell | null): Plan {
  const { heat, rowHeight } = props;
  const theme = palette.value;
  const height = Math.max(heat.rows * (rowHeight ?? Math.min(18, Math.max(3, 400 / Math.max(heat.rows, 1)))), 18);
  const colours = useMemo(() => heatColours(SHADES, rgbOf(theme.raised), shade.value === "dark"), [theme]);
  return useMemo<Plan>(
    () => ({ props, colours, theme, focused, height }),
    [props.heat, props.logarithmic, colours, theme, focused, height],
  );
}

// Draws when the plan is another one or the place has another size, and at no other time: the plan is a signal here, so
// that both come by one effect.
function usePainted(canvas: RefObject<HTMLCanvasElement | null>, size: Signal<Size>, plan: Plan): void {
  const wish = useSignal(plan);
  if (wish.peek() !== plan) wish.value = plan;
  useSignalEffect(() => {
    const { width } = size.value;
    if (canvas.current && width > 0) drawPixels(canvas.current, width, wish.value);
  });
}

// Keys that mean nothing here go on to the page.
function keysOf(
  { heat, onCell }: HeatMapProps,
  focused: Cell | null,
  setFocused: (cell: Cell) => void,
): (event: TargetedKeyboardEvent<HTMLCanvasElement>) => void {
  return (event) => {
    const next = moved(focused, event.key, heat);
    if (next) setFocused(next);
    else if (event.key === "Enter" && focused) onCell(focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

export function HeatMap(props: HeatMapProps): JSX.Element {
  const { title, heat, onCell, leadsTo } = props;
  const [holder, size] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focused, setFocused] = useState<Cell | null>(null);
  const [hovered, setHovered] = useState<Cell | null>(null);
  const plan = usePlan(props, focused);
  usePainted(canvas, size, plan);
  const { height } = plan;
  const width = size.value.width;
  const cellOf = (event: { clientX: number; clientY: number }): Cell | undefined => {
    const { x, y } = placeIn(canvas.current!, event);
    return cellAt(x - GUTTER, y, { width: width - GUTTER, height, columns: heat.columns, rows: heat.rows });
  };
  const onKey = keysOf(props, focused, setFocused);
  const shown = hovered ?? focused;
  const drawAll = (pen: Pen): void => {
    drawBoxes(pen, width, plan);
    drawNames(pen, plan);
    drawAxis(pen, width, plan);
  };
  return (
    <figure class="drawn heat-map">
      <figcaption>
        {title}
        <SaveBar
          name={title}
          picture={() => ({ width, height: height + AXIS, draw: drawAll })}
          table={() => tableOf(props)}
        />
      </figcaption>
      <div ref={holder} class="holder" style={{ height: `${height + AXIS}px` }}>
        <canvas
          ref={canvas}
          role="application"
          tabIndex={0}
          aria-label={`${title}: ${counted(heat.rows, "row")} over time. Arrows walk, Enter ${leadsTo}.`}
          style={{ width: `${width}px`, height: `${height + AXIS}px` }}
          onPointerMove={(event) => setHovered(cellOf(event) ?? null)}
          onPointerLeave={() => setHovered(null)}
          onClick={(event) => {
            const cell = cellOf(event);
            if (cell) onCell(cell);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div class="card" aria-live="polite">
        {shown ? (
          <CellCard props={props} cell={shown} />
        ) : (
          `A cell ${leadsTo}. The strongest colour stands for ${humanNumber(heat.most, props.measure)}.`
        )}
      </div>
    </figure>
  );
}
