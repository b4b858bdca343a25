// SPDX-License-Identifier: MIT
// What a statement answered: rows, and a picture where one suits.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { QueryAnswer } from "../../api/types";
import { chartOf } from "../../logic/chart";
import { resultTable } from "../../logic/sql_result";
import { humanNs, withThousands } from "../../logic/units";
import { Empty } from "../../shell/states";
import { setting } from "../../state/selection";
import { Switch } from "../parts/choice";
import { DataTable } from "../parts/data_table";
import { ResultChart } from "./result_chart";
import { exact } from "./state";

const hidden = setting("sql.nochart", "");

export function Result({ answer }: { answer: QueryAnswer }): JSX.Element {
  const table = useMemo(() => resultTable(answer, exact.value === "1"), [answer, exact.value]);
  const chart = useMemo(() => chartOf(table), [table]);
  const rows = answer.rows.length;
  return (
    <>
      <p class="note" role="status">
        {withThousands(rows)} {rows === 1 ? "row" : "rows"} in {humanNs(answer.elapsed_ns)}
        {answer.truncated && "; there are more, which were not asked for"}
        <Switch name="sql.exact" label="exact numbers" />
        {chart && <Switch name="sql.nochart" label="no chart" />}
      </p>
      {chart && hidden.value !== "1" && <ResultChart table={table} chart={chart} />}
      {rows === 0 ? <Empty what="The statement found no row" /> : <DataTable title="Result" table={table} />}
    </>
  );
}
