// SPDX-License-Identifier: MIT
// The frame: tabs, the recording, the selection, and the view.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { reachable } from "../api/transport";
import { page, recording, recordings } from "../state/page";
import { select, selection } from "../state/selection";
import { escapeName } from "../logic/escape";
import { Header } from "./header";
import { Help } from "./help";
import { useFrameKeys } from "./frame_keys";
import { SelectionBar } from "./selection_bar";
import { Answered, Empty } from "./states";
import { shownViews, viewOf } from "./views";

function LostConnection(): JSX.Element | null {
  if (reachable.value) return null;
  return (
    <p class="banner" role="alert">
      Connection lost. The page tries again by itself; what you see is what was loaded before.
    </p>
  );
}

function NotShown(): JSX.Element {
  const missing = page.value?.not_shown ?? [];
  return (
    <>
      {missing.map(({ name, reason }) => (
        <p class="banner" role="status" key={name}>
          {escapeName(name)} is not shown: {escapeName(reason)}
        </p>
      ))}
    </>
  );
}

function Body(): JSX.Element {
  if (recordings.value.length === 0 && page.value?.mode === "view") {
    return <Empty what="There is no recording here" hint="fathom run -- PROGRAM makes one" />;
  }
  if (recording.value === null && recordings.value.length > 0) {
    const hint = (
      <button type="button" onClick={() => select({ recording: "" })}>
        Show {escapeName(recordings.value[0]!.name)}
      </button>
    );
    return <Empty what="The recording that this address names is not here" hint={hint} />;
  }
  const view = viewOf(selection.value.view);
  return <view.component key={view.id} />;
}

// The frame stands before the first answer, so that a server which is slow to open a recording shows a page.
export function App(): JSX.Element {
  useFrameKeys();
  const view = viewOf(selection.value.view);
  const title = recording.value ? escapeName(recording.value.name) : "Fathom";
  useEffect(() => {
    document.title = `${title} · ${view.title}`;
  }, [title, view.title]);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToView}>
        Skip to the view
      </a>
      <Header views={shownViews()} />
      <LostConnection />
      <NotShown />
      <SelectionBar />
      <main id="main" tabIndex={-1} aria-label={view.title}>
        <Answered of={page} what="Opening the recording">
          {() => <Body />}
        </Answered>
      </main>
      <Help />
    </>
  );
}

// Not by the address, which holds the selection.
function skipToView(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
