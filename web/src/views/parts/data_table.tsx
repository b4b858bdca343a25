// SPDX-License-Identifier: MIT
// A table of any length: only rows near the screen exist. Headings sort, which the address keeps; rows may lead somewhere.
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useSize } from "../../draw/canvas";
import { escapeName } from "../../logic/escape";
import {
  cellText,
  isNumeric,
  nextOrder,
  orderedRows,
  orderIn,
  orderText,
  RowTexts,
  visibleRows,
  type Order,
  type TableData,
} from "../../logic/table";
import { counted, withThousands } from "../../logic/units";
import { inSlices } from "../../logic/slices";
import { searchText } from "../../state/search";
import { changeSetting, selection } from "../../state/selection";
import { SaveBar } from "./save_bar";

const ROW_HEIGHT = 24; // the same in views.css
const MOST_VISIBLE = 20;
const LEAST_TEXT = 24; // characters of the widest column
const CHARACTER = 8; // pixels, with some to spare
const PADDING = 18; // pixels of a cell

interface DataTableProps {
  title: string;
  table: TableData;
  onRow?: ((row: number) => void) | undefined; // a place in table.rows
  rowTitle?: string; // what a row leads to
  visible?: number; // rows that are seen without scrolling
}

interface Widths {
  columns: number[]; // in characters
  widest: number; // the column that gives way where there is too little room; -1: none
  cut: number[]; // as narrow as they can be read
}

// Wide enough for what the first rows say. Where there is more room, all columns share it; where there is less, long texts
// are cut, so that numbers beside them stay on screen.
function widths(table: TableData): Widths {
  const columns = table.columns.map(({ name, measure }, column) => {
    const texts = table.rows.slice(0, 200).map((row) => cellText(row[column], measure).length);
    return Math.min(40, Math.max(name.length + 2, ...texts, 4));
  });
  const numeric = table.columns.map((_, column) => isNumeric(table, column));
  const texts = columns.flatMap((width, column) => (numeric[column] ? [] : [[width, column] as const]));
  const [, widest] = texts.reduce((best, each) => (each[0] > best[0] ? each : best), [0, -1] as const);
  const cut = columns.map((width, column) => (numeric[column] ? width : Math.min(width, LEAST_TEXT)));
  return { columns, widest, cut };
}

function pixelsOf(columns: readonly number[]): number {
  return columns.reduce((sum, width) => sum + width * CHARACTER + PADDING, 0);
}

// In pixels; nothing for the column that takes what is left.
function pixels({ columns, widest, cut }: Widths, room: number): (string | undefined)[] {
  const tight = pixelsOf(columns) > room;
  return (tight ? cut : columns).map((width, at) =>
    tight && at === widest ? undefined : `${width * CHARACTER + PADDING}px`,
  );
}

function Heading(props: {
  table: TableData;
  numeric: readonly boolean[];
  order: Order | undefined;
  onOrder: (column: number) => void;
}): JSX.Element {
  const { table, numeric, order, onOrder } = props;
  return (
    <tr>
      {table.columns.map(({ name }, column) => {
        const sorted = order?.column === column ? (order.descending ? "descending" : "ascending") : "none";
        return (
          <th key={column} scope="col" aria-sort={sorted} class={numeric[column] ? "number" : ""}>
            <button type="button" onClick={() => onOrder(column)}>
              {escapeName(name)}
              {sorted !== "none" && <span aria-hidden="true">{sorted === "descending" ? " ▾" : " ▴"}</span>}
            </button>
          </th>
        );
      })}
    </tr>
  );
}

function moveFocus(event: KeyboardEvent, row: HTMLElement): void {
  const other =
    event.key === "ArrowDown" ? row.nextElementSibling : event.key === "ArrowUp" ? row.previousElementSibling : null;
  if (!(other instanceof HTMLElement) || other.tabIndex < 0) return;
  event.preventDefault();
  other.focus();
}

interface RowProps {
  table: TableData;
  at: number;
  place: number; // in the order that is shown, from 1
  numeric: readonly boolean[];
  onRow: ((row: number) => void) | undefined;
  title: string | undefined;
}

// A row that leads somewhere can be reached and used by keys alone.
function Row({ table, at, place, numeric, onRow, title }: RowProps): JSX.Element {
  const cells = table.rows[at]!;
  const leads = onRow && {
    tabIndex: 0,
    class: "leads",
    title,
    onClick: () => onRow(at),
    onKeyDown: (event: TargetedKeyboardEvent<HTMLTableRowElement>) => {
      if (event.key === "Enter") onRow(at);
      else moveFocus(event, event.currentTarget);
    },
  };
  return (
    <tr aria-rowindex={place + 1} {...leads}>
      {table.columns.map(({ measure }, column) => {
        const text = cellText(cells[column], measure);
        return (
          <td key={column} class={numeric[column] ? "number" : ""} title={text.length > 30 ? text : undefined}>
            {text}
          </td>
        );
      })}
    </tr>
  );
}

function Spacer({ rows }: { rows: number }): JSX.Element | null {
  return rows > 0 ? <tr aria-hidden="true" style={{ height: `${rows * ROW_HEIGHT}px` }} /> : null;
}

// By title: a view has no two tables of one.
function useOrder({ title, table }: DataTableProps): [Order | undefined, (order: Order | undefined) => void] {
  const name = `sort.${title}`;
  const text = useComputed(() => selection.value.settings[name] ?? "").value;
  const order = useMemo(() => orderIn(text, table.columns), [text, table]);
  return [order, (next) => changeSetting(name, next ? orderText(next, table.columns) : null, "push")];
}

interface Matches {
  rows: readonly number[];
  isSearched: boolean;
}

// The rows in which the search is found. While it goes on in a long table, those that were found before stay.
function useMatches(table: TableData, ordered: readonly number[]): Matches {
  const text = searchText.value.trim();
  const texts = useMemo(() => new RowTexts(table), [table]);
  const [found, setFound] = useState<{ rows: readonly number[]; of: TableData } | null>(null);
  useEffect(() => {
    if (text === "") return setFound(null);
    const control = new AbortController();
    inSlices(texts.matching(ordered, text), control.signal, (rows) => setFound({ rows, of: table }));
    return () => control.abort();
  }, [texts, ordered, text]);
  // Places of rows in another table mean nothing in this one.
  return text !== "" && found?.of === table
    ? { rows: found.rows, isSearched: true }
    : { rows: ordered, isSearched: false };
}

interface GridProps {
  shown: DataTableProps;
  rows: readonly number[]; // places in the table, in the order that is shown
  from: number; // the first of them that is near the screen
  end: number;
  room: number; // pixels
}

// Rows beyond the screen are two empty ones, as high as those would be.
function Grid({ shown, rows, from, end, room }: GridProps): JSX.Element {
  const { table, onRow, rowTitle } = shown;
  const [order, setOrder] = useOrder(shown);
  const numeric = useMemo(() => table.columns.map((_, column) => isNumeric(table, column)), [table]);
  const columns = useMemo(() => widths(table), [table]);
  return (
    <table aria-rowcount={rows.length + 1} style={{ minWidth: `${pixelsOf(columns.cut)}px` }}>
      <colgroup>
        {pixels(columns, room).map((width, column) => (
          <col key={column} {...(width ? { style: { width } } : {})} />
        ))}
      </colgroup>
      <thead>
        <Heading
          table={table}
          numeric={numeric}
          order={order}
          onOrder={(column) => setOrder(nextOrder(order, column, numeric[column]!))}
        />
      </thead>
      <tbody>
        <Spacer rows={from} />
        {rows.slice(from, end).map((at, i) => (
          <Row key={at} table={table} at={at} place={from + i + 1} numeric={numeric} onRow={onRow} title={rowTitle} />
        ))}
        <Spacer rows={rows.length - end} />
      </tbody>
    </table>
  );
}

export function DataTable(props: DataTableProps): JSX.Element {
  const { title, table, visible = MOST_VISIBLE } = props;
  const [order] = useOrder(props);
  const [scrolled, setScrolled] = useState(0);
  const [holder, size] = useSize<HTMLDivElement>();
  const ordered = useMemo(() => orderedRows(table.rows, order), [table, order]);
  const { rows, isSearched } = useMatches(table, ordered);
  const { first, end } = visibleRows(scrolled, Math.max(size.value.height, 200), ROW_HEIGHT, rows.length);
  // With a bar to scroll sideways below the rows, the box is that much higher by itself.
  const maxHeight = `${(Math.min(rows.length, visible) + 1) * ROW_HEIGHT + 18}px`;
  return (
    <figure class="data-table">
      <figcaption>
        {title}
        <SaveBar name={title} table={() => ({ ...table, rows: rows.map((at) => table.rows[at]!) })} />
      </figcaption>
      <div
        class="scroll"
        tabIndex={0}
        role="region"
        aria-label={title}
        ref={holder}
        style={{ maxHeight }}
        onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}
      >
        <Grid shown={props} rows={rows} from={first} end={end} room={size.value.width} />
      </div>
      {isSearched && (
        <p class="note" role="status">
          The search matches {withThousands(rows.length)} of {counted(ordered.length, "row")}.
        </p>
      )}
      {table.note && <p class="note">{table.note}</p>}
    </figure>
  );
}
