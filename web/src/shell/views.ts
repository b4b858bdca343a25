// SPDX-License-Identifier: MIT
// The views of the page, in the order of their tabs. To add one: its component in views/, and a line here.
import type { ComponentType } from "preact";
import type { PageMode } from "../api/types";
import { inFile, page } from "../state/page";
import { selection } from "../state/selection";
import { Timeline } from "../timeline/timeline";
import { Compare } from "../views/compare/compare";
import { Explain } from "../views/explain/explain";
import { Flame } from "../views/flame/flame";
import { Fleet } from "../views/fleet/fleet";
import { Gpu } from "../views/gpu/gpu";
import { Io } from "../views/io/io";
import { Overview } from "../views/overview/overview";
import { Resources } from "../views/resources/resources";
import { Sql } from "../views/sql/sql";

export interface ViewDef {
  id: string; // in the address
  title: string;
  key: string; // the key that leads to it
  component: ComponentType;
  modes?: readonly PageMode[]; // only where the page is served so
  whole?: boolean; // it is about whole recordings, whatever is selected
}

export const views: readonly ViewDef[] = [
  { id: "overview", title: "Overview", key: "1", component: Overview },
  { id: "timeline", title: "Timeline", key: "2", component: Timeline },
  { id: "flame", title: "Flame", key: "3", component: Flame },
  { id: "io", title: "I/O", key: "4", component: Io },
  { id: "gpu", title: "GPU", key: "5", component: Gpu },
  { id: "explain", title: "Explain", key: "6", component: Explain },
  { id: "resources", title: "Resources", key: "7", component: Resources },
  { id: "compare", title: "Compare", key: "8", component: Compare, whole: true, modes: ["view", "server"] },
  { id: "sql", title: "SQL", key: "9", component: Sql, whole: true, modes: ["view", "server"] },
  { id: "fleet", title: "Fleet", key: "0", component: Fleet, whole: true, modes: ["server"] },
];

export function shownViews(): readonly ViewDef[] {
  const mode = page.value?.mode;
  return views.filter((view) => !view.modes || (mode !== undefined && view.modes.includes(mode)));
}

export function viewOf(id: string): ViewDef {
  return shownViews().find((view) => view.id === id) ?? shownViews()[0] ?? views[0]!;
}

// A page without a server answers no condition, and views of whole recordings have none.
export function canSelectWhere(): boolean {
  return !inFile.value && !viewOf(selection.value.view).whole;
}
