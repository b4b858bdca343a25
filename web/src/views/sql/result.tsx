// SPDX-License-Identifier: MIT
// What a statement answered: rows, and a picture where one suits.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { QueryAnswer } from "../../api/types";
import { chartOf } from "../../logic/chart";
import { placeOfRows, resultTable } from "../../logic/sql_result";
import type { TableData } from "../../logic/table";
import { counted, humanNs } from "../../logic/units";
import { Empty } from "../../shell/states";
import { setting } from "../../state/selection";
import { Switch } from "../parts/choice";
import { DataTable } from "../parts/data_table";
import { goToRange } from "../parts/go";
import { ResultChart } from "./result_chart";
import { exact } from "./state";

const hidden = setting("sql.nochart", "");

// Rows that have a time lead there.
function Rows({ answer, table }: { answer: QueryAnswer; table: TableData }): JSX.Element {
  const place = useMemo(() => placeOfRows(answer.columns.map(({ name }) => name)), [answer]);
  if (!place) return <DataTable title="Result" table={table} />;
  const go = (row: number): void => {
    const found = place(answer.rows[row]!);
    if (found) goToRange(found.from, found.to, found);
  };
  return <DataTable title="Result" table={table} onRow={go} rowTitle="Show in the timeline" />;
}

export function Result({ answer }: { answer: QueryAnswer }): JSX.Element {
  const table = useMemo(() => resultTable(answer, exact.value === "1"), [answer, exact.value]);
  const chart = useMemo(() => chartOf(table), [table]);
  const rows = answer.rows.length;
  return (
    <>
      <p class="note" role="status">
        {counted(rows, "row")} in {humanNs(answer.elapsed_ns)}
        {answer.truncated && "; there are more: LIMIT and OFFSET lead to others, fathom sql writes all of them"}
        <Switch name="sql.exact" label="exact numbers" />
        {chart && <Switch name="sql.nochart" label="no chart" />}
      </p>
      {chart && hidden.value !== "1" && <ResultChart table={table} chart={chart} />}
      {rows === 0 ? <Empty what="The statement found no row" /> : <Rows answer={answer} table={table} />}
    </>
  );
}
