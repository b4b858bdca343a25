// SPDX-License-Identifier: MIT
// The views of the page, in the order of their tabs. To add one: its component in views/, and a line here.
import type { ComponentType } from "preact";
import { page } from "../state/page";
import { Timeline } from "../timeline/timeline";

export interface ViewDef {
  id: string; // in the address
  title: string;
  key: string; // the key that leads to it
  component: ComponentType;
  mode?: "view" | "server"; // only where the page is served so
}

export const views: readonly ViewDef[] = [{ id: "timeline", title: "Timeline", key: "2", component: Timeline }];

export function shownViews(): readonly ViewDef[] {
  const mode = page.value?.mode;
  return views.filter((view) => !view.mode || view.mode === mode);
}

export function viewOf(id: string): ViewDef {
  return shownViews().find((view) => view.id === id) ?? shownViews()[0] ?? views[0]!;
}
