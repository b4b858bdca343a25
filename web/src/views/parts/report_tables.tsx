// SPDX-License-Identifier: MIT
// The tables of a report one below the other, as the command line prints them.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { rowsOf, tableKeys, tableOf, titleOf, wordsOf, type Report, type ReportRow } from "../../logic/report";
import { Empty } from "../../shell/states";
import { Clamped } from "./clamped";
import { DataTable } from "./data_table";

interface ReportTableProps {
  report: Report;
  of: string; // the key of the table
  without?: readonly string[];
  onRow?: (row: ReportRow) => void;
  rowTitle?: string;
  visible?: number; // rows that are seen without scrolling
}

export function ReportTable(props: ReportTableProps): JSX.Element {
  const { report, of, without, onRow, rowTitle, visible } = props;
  const table = useMemo(() => tableOf(report, of, without), [report, of]);
  const rows = rowsOf(report, of);
  if (rows.length === 0) return <Empty what={table.note || `${titleOf(of)}: nothing was recorded`} />;
  return (
    <DataTable
      title={titleOf(of)}
      table={table}
      onRow={onRow && ((row) => onRow(rows[row]!))}
      {...(rowTitle ? { rowTitle } : {})}
      {...(visible ? { visible } : {})}
    />
  );
}

export function Words({ report }: { report: Report }): JSX.Element | null {
  const words = wordsOf(report);
  if (words.length === 0) return null;
  return (
    <ul class="words">
      {words.map((sentence, at) => (
        <li key={at}>
          <Clamped text={sentence} />
        </li>
      ))}
    </ul>
  );
}

export function ReportTables({ report }: { report: Report }): JSX.Element {
  const keys = tableKeys(report);
  return (
    <>
      <Words report={report} />
      {keys.map((key) => (
        <ReportTable key={key} report={report} of={key} />
      ))}
    </>
  );
}
