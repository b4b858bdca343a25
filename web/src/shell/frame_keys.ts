// SPDX-License-Identifier: MIT
// Keys that work in every view.
import { useEffect } from "preact/hooks";
import { addKeys, pressed, type KeyDef } from "../state/keys";
import { select, selectEverything } from "../state/selection";
import { showHelp } from "./help";
import { canSelectWhere, shownViews, views } from "./views";
import { showWhere } from "./where_field";

function frameKeys(): KeyDef[] {
  const tabs = views.map((view) => ({
    keys: [view.key],
    help: `Show ${view.title}`,
    when: () => shownViews().includes(view),
    run: () => select({ view: view.id }),
  }));
  return [
    { keys: ["?"], help: "Show this help", run: showHelp },
    { keys: ["/"], help: "Search; Enter leads to the next match, Shift+Enter to the one before", run: focusSearch },
    ...tabs,
    { keys: ["c"], help: "Select events by a condition in SQL", when: canSelectWhere, run: showWhere },
    { keys: ["x"], help: "Select everything again", run: selectEverything },
  ];
}

function focusSearch(): void {
  const field = document.getElementById("search");
  if (field instanceof HTMLInputElement) field.select();
}

export function useFrameKeys(): void {
  useEffect(() => {
    const forget = addKeys(frameKeys());
    addEventListener("keydown", pressed);
    return () => {
      removeEventListener("keydown", pressed);
      forget();
    };
  }, []);
}
