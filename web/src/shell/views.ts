// SPDX-License-Identifier: MIT
// The views of the page, in the order of their tabs. To add one: its component in views/, and a line here.
import type { ComponentType } from "preact";
import { Timeline } from "../timeline/timeline";

export interface ViewDef {
  id: string; // in the address
  title: string;
  key: string; // the key that leads to it
  component: ComponentType;
  mode?: "view" | "server"; // only where the page is served so
}

export const views: readonly ViewDef[] = [{ id: "timeline", title: "Timeline", key: "2", component: Timeline }];
