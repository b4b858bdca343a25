// SPDX-License-Identifier: MIT
// What the colours of a comparison mean.
import type { JSX } from "preact";
import { changeColour, rgbOf } from "../../logic/colours";
import { palette } from "../../theme/theme";

const STEPS: readonly (readonly [number, string])[] = [
  [-1, "only before"],
  [-0.5, "half as much"],
  [0, "the same"],
  [0.5, "twice as much"],
  [1, "only after"],
];

export function DiffLegend(): JSX.Element {
  const same = rgbOf(palette.value.line);
  return (
    <ul class="legend" aria-label="Colours">
      {STEPS.map(([change, words]) => (
        <li key={words}>
          <span class="swatch" style={{ background: changeColour(change, same) }} aria-hidden="true" />
          {words}
        </li>
      ))}
    </ul>
  );
}
