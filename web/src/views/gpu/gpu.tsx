// SPDX-License-Identifier: MIT
// What GPUs did, how long they were idle, and what the host did meanwhile.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { copiesOf, longestIdle, runsOfKernel, workOf } from "../../logic/gpu";
import type { Place } from "../../logic/places";
import { rowsOf, type Report, type ReportRow } from "../../logic/report";
import { Answered, Empty } from "../../shell/states";
import { recording } from "../../state/page";
import { series } from "../../theme/layers";
import { shade } from "../../theme/theme";
import { goToPlace, goToRange } from "../parts/go";
import { useReport } from "../parts/report_answer";
import { ReportTable } from "../parts/report_tables";
import { SplitBar } from "../parts/split_bar";
import type { Share } from "../parts/split_bar_picture";

const GPUS = "gpus_from_the_first_to_the_last_thing_that_each_did";
const CAUSES = "what_the_host_did_while_a_gpu_was_idle";
const KERNELS = "kernels_launched";
const COPIES = "bytes_moved_and_set_by_the_cuda_driver";
const ROWS = 1000; // of each table; some are seen, others scrolled to

function causeName(row: ReportRow): string {
  const [cause, name] = [String(row["cause"]), row["name"]];
  return name === null || name === undefined ? cause : `${cause}: ${String(name)}`;
}

// Busy time and the causes of idle time, of one GPU: shares of its span. Each colour stands for one thing: the last is of all
// causes that are left. The table below the picture has each.
function sharesOf(report: Report, gpu: ReportRow, colours: readonly string[]): Share[] {
  const span = Number(gpu["span"]) || 1;
  const share = (name: string, time: number, at: number): Share => {
    return { name, time, share: (100 * time) / span, colour: colours[at]! };
  };
  const causes = causesOf(report, gpu);
  const last = colours.length - 1;
  const most = namedCauses(causes, colours);
  const shares = [share("busy", Number(gpu["busy"]), 0)];
  for (const [at, row] of causes.slice(0, most).entries()) {
    shares.push(share(`idle, ${causeName(row)}`, Number(row["idle"]), 1 + at));
  }
  // The report may leave out rows: what is left is the GPU's own sum without those that are named.
  const named = causes.slice(0, most).reduce((sum, row) => sum + Number(row["idle"]), 0);
  const left = Number(gpu["idle"]) - named;
  if (left > 0) shares.push(share("idle, other causes", left, last));
  return shares;
}

function causesOf(report: Report, gpu: ReportRow): ReportRow[] {
  return rowsOf(report, CAUSES).filter((row) => row["host"] === gpu["host"] && row["device"] === gpu["device"]);
}

function namedCauses(causes: readonly ReportRow[], colours: readonly string[]): number {
  const last = colours.length - 1;
  return causes.length > last ? last - 1 : last;
}

// Where the GPU was idle the longest for this cause. Where the report does not tell, the work around it.
function goToIdle(cause: ReportRow | undefined, gpu: ReportRow): void {
  const idle = longestIdle(cause);
  if (idle) goToRange(idle.from, idle.to);
  else void goToPlace(workOf(gpu));
}

// `at` is the share's place: after the busy time, each cause that is named, and the rest.
function goToShare(report: Report, gpu: ReportRow, at: number, colours: readonly string[]): void {
  if (at === 0) return void goToPlace(workOf(gpu));
  const causes = causesOf(report, gpu);
  const most = namedCauses(causes, colours);
  const worst = causes.slice(most).sort((a, b) => Number(b["longest"]) - Number(a["longest"]))[0];
  goToIdle(at <= most ? (causes[at - 1] ?? worst) : worst, gpu);
}

function Idle({ report }: { report: Report }): JSX.Element {
  const colours = series[shade.value];
  const gpus = rowsOf(report, GPUS);
  const shares = useMemo(() => gpus.map((gpu) => sharesOf(report, gpu, colours)), [report, colours]);
  return (
    <>
      {gpus.map((gpu, at) => (
        <SplitBar
          key={at}
          title={`GPU ${String(gpu["device"])} of ${String(gpu["host"])}`}
          shares={shares[at]!}
          onShare={(share) => goToShare(report, gpu, shares[at]!.indexOf(share), colours)}
        />
      ))}
      <ReportTable
        report={report}
        of={GPUS}
        rowTitle="Show in the timeline"
        onRow={(row) => void goToPlace(workOf(row))}
      />
      <ReportTable
        report={report}
        of={CAUSES}
        rowTitle="Show the longest stretch in the timeline"
        onRow={(row) => goToIdle(row, row)}
      />
    </>
  );
}

function Table({ view, of, place }: { view: string; of: string; place: (row: ReportRow) => Place }): JSX.Element {
  const report = useReport(view, () => ({ by: "device", top: ROWS }));
  return (
    <Answered of={report} what={`Asking for ${view}`}>
      {(answer) => (
        <ReportTable
          report={answer}
          of={of}
          rowTitle="Show in the timeline"
          onRow={(row) => void goToPlace(place(row))}
        />
      )}
    </Answered>
  );
}

// One word for all parts, with what the recording says of the reason.
function NoGpu(): JSX.Element {
  const layers = recording.value?.layers ?? [];
  const reason = layers.find(({ name }) => name === "cuda")?.reason;
  return (
    <Empty
      what="No work of a GPU was recorded in this part"
      hint={`fathom run --layers +cuda,gpu records it where there is a GPU.${reason ? ` This recording: ${escapeName(reason)}.` : ""}`}
    />
  );
}

export function Gpu(): JSX.Element {
  const idle = useReport("gpu-idle", () => ({ top: ROWS }));
  const layers = recording.value?.layers ?? [];
  const any = layers.some(({ name, events }) => (name === "cuda" || name === "gpu") && events > 0);
  if (!any)
    return (
      <div class="view gpu">
        <NoGpu />
      </div>
    );
  return (
    <div class="view gpu">
      <section aria-label="Idle time">
        <Answered of={idle} what="Asking what GPUs did">
          {(report) => (rowsOf(report, GPUS).length > 0 ? <Idle report={report} /> : <NoGpu />)}
        </Answered>
      </section>
      <Table view="kernels" of={KERNELS} place={runsOfKernel} />
      <Table view="copies" of={COPIES} place={copiesOf} />
    </div>
  );
}
