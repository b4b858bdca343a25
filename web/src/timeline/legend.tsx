// SPDX-License-Identifier: MIT
// The colours of the layers that recorded something. A click selects a layer: others fade here, and are left out elsewhere.
import type { JSX } from "preact";
import { escapeName } from "../logic/escape";
import { counted } from "../logic/units";
import { recording } from "../state/page";
import { select, selection } from "../state/selection";
import { layerColour } from "../theme/layers";
import { shade } from "../theme/theme";

function toggle(layer: string): void {
  const now = selection.peek().layers;
  select({ layers: now.includes(layer) ? now.filter((each) => each !== layer) : [...now, layer] });
}

export function Legend(): JSX.Element {
  const layers = (recording.value?.layers ?? []).filter((layer) => layer.events > 0);
  return (
    <div class="tl-legend" role="group" aria-label="Layers">
      {layers.map(({ name, events }) => (
        <button
          key={name}
          type="button"
          aria-pressed={selection.value.layers.includes(name)}
          title={`${counted(events, "event")} in layer ${escapeName(name)}`}
          onClick={() => toggle(name)}
        >
          <span class="tl-swatch" style={{ backgroundColor: layerColour(name, shade.value) }} />
          {escapeName(name)}
        </button>
      ))}
    </div>
  );
}
