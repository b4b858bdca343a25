// SPDX-License-Identifier: MIT
// Files by time, with the pattern of their calls. A row shows where in the file was read and written.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { fileTable } from "../../logic/file_rows";
import type { Report } from "../../logic/report";
import { Answered } from "../../shell/states";
import { DataTable } from "../parts/data_table";
import { useReport } from "../parts/report_answer";
import { chooseFile } from "./offsets";

function Table({ files, patterns }: { files: Report; patterns: Report | null }): JSX.Element | null {
  const table = useMemo(() => fileTable(files, patterns), [files, patterns]);
  if (table.rows.length === 0) return null; // the heat map above says so, and what to do
  return (
    <DataTable
      title="Files by time"
      table={table}
      onRow={(row) => chooseFile(String(table.rows[row]![0]))}
      rowTitle="Show where in the file was read and written"
    />
  );
}

export function Files(): JSX.Element {
  const files = useReport("files", () => ({ top: 1000 }));
  const patterns = useReport("patterns", () => ({ top: 1000 }));
  return (
    <Answered of={files} what="Adding up files">
      {(report) => <Table files={report} patterns={patterns.current} />}
    </Answered>
  );
}
