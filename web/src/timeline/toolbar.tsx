// SPDX-License-Identifier: MIT
// Buttons of the timeline: everything that keys and the mouse do, and what is seen as a file.
import type { JSX } from "preact";
import { exportUrl } from "../api/client";
import type { TrackList } from "../api/types";
import { humanNs, humanPercent, withThousands } from "../logic/units";
import { escapeName } from "../logic/escape";
import { coarseWords } from "../inside/words";
import { inFile } from "../state/page";
import { part } from "../state/selection";
import { spanOf } from "./camera";
import type { TimelineModel } from "./model";
import { levelOf } from "./tiles";
import { savePictureCsv, savePicturePng, savePictureSvg } from "./save_picture";

function Saving({ model }: { model: TimelineModel }): JSX.Element {
  return (
    <details class="menu">
      <summary>Save</summary>
      <div class="menu-items">
        <button type="button" onClick={() => savePicturePng(model)}>
          Picture (PNG)
        </button>
        <button type="button" onClick={() => savePictureSvg(model)}>
          Picture (SVG)
        </button>
        <button type="button" onClick={() => savePictureCsv(model)}>
          Boxes (CSV)
        </button>
        {!inFile.value && (
          <>
            <a href={exportUrl("perfetto", part.value)} download>
              Save for Perfetto
            </a>
            <a href={exportUrl("speedscope", part.value)} download>
              Save for speedscope
            </a>
            <p class="hint">
              The last two save what is selected as a file, and send nothing. Open it in ui.perfetto.dev or
              speedscope.app, or in your own copy of them.
            </p>
          </>
        )}
      </div>
    </details>
  );
}

// Events that no track shows are told of, with the reason.
export function lostWords(lost: TrackList["lost"]): string {
  const parts = (lost ?? []).map(({ reason, count }) => `${withThousands(count)} not drawn: ${escapeName(reason)}`);
  return parts.length > 0 ? `${parts.join("; ")}. ` : "";
}

export function Toolbar({ model }: { model: TimelineModel }): JSX.Element {
  const missed = model.missed.value;
  const building = model.tracks.value?.building;
  return (
    <div class="tl-toolbar" role="toolbar" aria-label="Timeline">
      <button type="button" onClick={() => model.zoom(0.5)} title="Zoom in (key w)">
        Zoom in
      </button>
      <button type="button" onClick={() => model.zoom(2)} title="Zoom out (key s)">
        Zoom out
      </button>
      <button type="button" onClick={() => model.showAll()} title="Show everything (key e)">
        Everything
      </button>
      <button type="button" onClick={() => model.showChosen()} title="Go to what is selected (key f)">
        Selection
      </button>
      <button type="button" onClick={() => model.collapseAll()} title="Show processes without their threads">
        Collapse
      </button>
      <button type="button" onClick={() => model.expandAll()} title="Show all levels and all counters">
        Expand
      </button>
      {!inFile.value && (
        <button
          type="button"
          aria-pressed={model.showFlows.value}
          onClick={() => (model.showFlows.value = !model.showFlows.value)}
        >
          Flows
        </button>
      )}
      <Saving model={model} />
      <span class="grow" />
      <span role="status" class="faint">
        {building === undefined
          ? ""
          : `Reading all events (${humanPercent(building * 100)}); the picture is coarse until then. `}
        {missed ? `No further match for “${missed}”. ` : ""}
        {model.error.value ? `${model.error.value.message} ` : ""}
        {lostWords(model.tracks.value?.lost)}
        {coarseWords(levelOf(model.camera.value, model.size.value.width))}
        {humanNs(spanOf(model.camera.value))} on screen
      </span>
    </div>
  );
}
