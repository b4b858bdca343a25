// SPDX-License-Identifier: MIT
// What GPUs did, how long they were idle, and what the host did meanwhile.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { escapeName } from "../../logic/escape";
import { sqlText } from "../../logic/places";
import { rowsOf, type Report, type ReportRow } from "../../logic/report";
import { Answered, Empty } from "../../shell/states";
import { recording } from "../../state/page";
import { series } from "../../theme/layers";
import { shade } from "../../theme/theme";
import { goToPlace } from "../parts/go";
import { useReport } from "../parts/report_answer";
import { ReportTable } from "../parts/report_tables";
import { SplitBar, type Share } from "../parts/split_bar";

const GPUS = "gpus_from_the_first_to_the_last_thing_that_each_did";
const CAUSES = "what_the_host_did_while_a_gpu_was_idle";
const KERNELS = "kernels_launched";
const COPIES = "bytes_moved_and_set_by_the_cuda_driver";

function causeName(row: ReportRow): string {
  const [cause, name] = [String(row["cause"]), row["name"]];
  return name === null || name === undefined ? cause : `${cause}: ${String(name)}`;
}

// Busy time and the causes of idle time, of one GPU: shares of its span.
function sharesOf(report: Report, gpu: ReportRow, colours: readonly string[]): Share[] {
  const span = Number(gpu["span"]) || 1;
  const share = (name: string, time: number, at: number): Share => {
    return { name, time, share: (100 * time) / span, colour: colours[at % colours.length]! };
  };
  const causes = rowsOf(report, CAUSES).filter((row) => row["host"] === gpu["host"] && row["device"] === gpu["device"]);
  // The first colour is that of work; causes take turns with the others.
  const others = colours.length - 1;
  const idle = causes.map((row, at) => share(`idle, ${causeName(row)}`, Number(row["idle"]), 1 + (at % others)));
  return [share("busy", Number(gpu["busy"]), 0), ...idle];
}

function Idle({ report }: { report: Report }): JSX.Element {
  const colours = series[shade.value];
  const gpus = rowsOf(report, GPUS);
  const shares = useMemo(() => gpus.map((gpu) => sharesOf(report, gpu, colours)), [report, colours]);
  return (
    <>
      {gpus.map((gpu, at) => (
        <SplitBar key={at} title={`GPU ${String(gpu["device"])} of ${String(gpu["host"])}`} shares={shares[at]!} />
      ))}
      <ReportTable
        report={report}
        of={GPUS}
        rowTitle="Show in the timeline"
        onRow={(row) =>
          void goToPlace({ view: "timeline", where: `layer = 'gpu' AND host = ${sqlText(String(row["host"]))}` })
        }
      />
      <ReportTable
        report={report}
        of={CAUSES}
        rowTitle="Show in the timeline"
        onRow={(row) => {
          const where = row["name"] ? `name = ${sqlText(String(row["name"]))}` : "layer = 'gpu'";
          void goToPlace({ view: "timeline", where });
        }}
      />
    </>
  );
}

function Table({ view, of, where }: { view: string; of: string; where?: (row: ReportRow) => string }): JSX.Element {
  const report = useReport(view, () => ({ top: 1000 }));
  const leads = where && {
    onRow: (row: ReportRow) => void goToPlace({ view: "timeline", where: where(row) }),
    rowTitle: "Show in the timeline",
  };
  return (
    <Answered of={report} what={`Asking for ${view}`}>
      {(answer) => <ReportTable report={answer} of={of} {...leads} />}
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
  const idle = useReport("gpu-idle");
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
      <Table
        view="kernels"
        of={KERNELS}
        where={(row) => `layer = 'gpu' AND name = ${sqlText(String(row["kernel"]))}`}
      />
      <Table view="copies" of={COPIES} where={() => "layer IN ('gpu', 'cuda') AND category = 'copy'"} />
    </div>
  );
}
