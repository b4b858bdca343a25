// SPDX-License-Identifier: MIT
// How large calls were and how long they took.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { histogramRows } from "../../logic/file_rows";
import type { Report } from "../../logic/report";
import { Answered } from "../../shell/states";
import { setting } from "../../state/selection";
import { Histogram } from "../parts/histogram";
import { useReport } from "../parts/report_answer";

const category = setting("io.category", "all");

interface OfReportProps {
  title: string;
  report: Report;
  of: string;
  measure: "ns" | "bytes";
}

function OfReport({ title, report, of, measure }: OfReportProps): JSX.Element | null {
  const { layer, rows } = useMemo(() => histogramRows(report, of, category.value, ""), [report, of, category.value]);
  if (rows.length === 0) return null; // the heat map above says so, and what to do
  return <Histogram title={layer ? `${title} (${layer})` : title} rows={rows} measure={measure} />;
}

export function Histograms(): JSX.Element {
  const sizes = useReport("sizes");
  const latencies = useReport("latencies");
  return (
    <section class="columns" aria-label="Sizes and latencies">
      <Answered of={sizes} what="Adding up sizes">
        {(report) => <OfReport title="Sizes of calls" report={report} of="sizes_of_calls" measure="bytes" />}
      </Answered>
      <Answered of={latencies} what="Adding up latencies">
        {(report) => <OfReport title="Latencies of calls" report={report} of="latencies_of_calls" measure="ns" />}
      </Answered>
    </section>
  );
}
