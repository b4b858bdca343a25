// SPDX-License-Identifier: MIT
// The first look: what ran, where its time went, what to do about it.
import type { JSX } from "preact";
import type { Asked } from "../../api/asked";
import { api } from "../../api/client";
import { eventsNamed } from "../../logic/places";
import { insightsOf, rowsOf, type Report } from "../../logic/report";
import { Answered, Empty } from "../../shell/states";
import { page, recording } from "../../state/page";
import { isLimited, part, selectEverything, selection } from "../../state/selection";
import { useAnswer } from "../parts/answer";
import { goToFile, goToFunction } from "../parts/go";
import { ReportTable, Words } from "../parts/report_tables";
import { useReport } from "../parts/report_answer";
import { Insights } from "./insights";
import { RunCard } from "./run_card";
import { SmallMultiples } from "./small";
import { ThreadSplit } from "./thread_split";
import { TimeSplit } from "./time_split";

// Answered with null where layer cpu recorded nothing or the server does not say.
function useTime() {
  return useAnswer(
    () => part.value,
    async (of, signal) => {
      // Adding up needs every row: functions are added up by the server, and no row is left out.
      const report = (await api.report("time", { by: "state,cause", top: 0 }, of, signal)) as unknown as Report;
      return rowsOf(report, "where_the_threads_time_went").length > 0 ? report : null;
    },
  );
}

const ROWS = 1000; // of functions and files; some are seen, others scrolled to

function showFunction(name: string, layer: string): void {
  void goToFunction(name, eventsNamed(name, layer));
}

// Rules weigh what they find by the whole run: they are asked of all of it or not at all.
function AdviceOfAll(): JSX.Element {
  return (
    <section aria-label="Insights">
      <p class="note">
        Advice is about the whole run, and is not shown for a part of it.{" "}
        <button type="button" onClick={selectEverything}>
          Show it for everything
        </button>
      </p>
    </section>
  );
}

// In the order of a first look: where the time went, what to do about it, then what there is to look up.
function Body({ report, time }: { report: Report; time: Asked<Report | null> }): JSX.Element {
  return (
    <>
      <TimeSplit overview={report} time={time} />
      <ThreadSplit />
      {isLimited(selection.value) ? <AdviceOfAll /> : <Insights insights={insightsOf(report)} />}
      <section aria-label="In words">
        <h2>In words</h2>
        <Words report={report} />
      </section>
      <SmallMultiples report={report} />
      <ReportTable
        report={report}
        of="top_functions"
        visible={10}
        onRow={(row) => showFunction(String(row["name"]), String(row["layer"]))}
        rowTitle="Show in the timeline"
      />
      {rowsOf(report, "top_files").length > 0 && (
        <ReportTable
          report={report}
          of="top_files"
          visible={10}
          onRow={(row) => void goToFile(String(row["file"]))}
          rowTitle="Show in the timeline"
        />
      )}
      {rowsOf(report, "losses").length > 0 && <ReportTable report={report} of="losses" />}
    </>
  );
}

export function Overview(): JSX.Element {
  const report = useReport("overview", () => ({ top: ROWS }));
  const time = useTime();
  const chosen = recording.value;
  if (page.value && !chosen) return <Empty what="There is no such recording" hint="Choose one above." />;
  return (
    <div class="view overview">
      {chosen && <RunCard recording={chosen} />}
      <Answered of={report} what="Asking for the overview">
        {(answer) => <Body report={answer} time={time} />}
      </Answered>
    </div>
  );
}
