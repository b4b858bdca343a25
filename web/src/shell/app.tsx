// SPDX-License-Identifier: MIT
// The frame: tabs, the recording, the selection, and the view.
import type { JSX } from "preact";
import { selection } from "../state/selection";
import { views } from "./views";

export function App(): JSX.Element {
  const chosen = views.find((view) => view.id === selection.value.view) ?? views[0]!;
  return <chosen.component />;
}
