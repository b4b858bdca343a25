// SPDX-License-Identifier: MIT
// The timeline: tracks of hosts, processes, threads and streams over time. model.ts holds its state, picture.ts draws it.
import { useEffectAtOnce } from "../state/at_once";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useSize } from "../draw/canvas";
import { escapeName } from "../logic/escape";
import { counted } from "../logic/units";
import { Answered, Empty, Loading } from "../shell/states";
import { useKeys, useMouseHelp } from "../state/keys";
import { recording } from "../state/page";
import { searchStep, searchText } from "../state/search";
import { Details } from "./details";
import { goToNext } from "./find";
import { HoverCard } from "./hover_card";
import { timelineKeys, timelineMouse } from "./keys";
import { Legend } from "./legend";
import { Minimap } from "./minimap";
import { TimelineModel } from "./model";
import { Names } from "./names";
import { Pointer } from "./pointer";
import { Ruler } from "./ruler";
import { Surface } from "./surface";
import { Toolbar } from "./toolbar";
import "./timeline.css";

const namesWidth = 220; // as in timeline.css

// Everything that happens because something else did.
function useReactions(model: TimelineModel): void {
  useEffectAtOnce(() => model.askForTracks());
  useEffectAtOnce(() => model.followIndex());
  useEffectAtOnce(() => model.look());
  useEffectAtOnce(() => model.askForFlows());
  useEffectAtOnce(() => model.follow());
  useEffectAtOnce(() => {
    const { number, back } = searchStep.value;
    const text = searchText.peek().trim();
    if (number > model.searchedAt && text) void findMatch(model, text, back);
    model.searchedAt = number;
  });
  useEffect(() => {
    const released = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === "m") model.measuring.value = false;
      if (["Control", "Shift", "Meta"].includes(event.key)) model.selectMarked();
    };
    addEventListener("keyup", released);
    return () => {
      removeEventListener("keyup", released);
      model.stop();
    };
  }, []);
}

async function findMatch(model: TimelineModel, text: string, back: boolean): Promise<void> {
  try {
    const found = await goToNext(model, recording.peek()?.id ?? "", text, back);
    model.missed.value = found ? "" : text;
  } catch {
    model.missed.value = text;
  }
}

function Tracks({ model }: { model: TimelineModel }): JSX.Element {
  const [body, size] = useSize<HTMLDivElement>();
  const pointer = useMemo(() => new Pointer(model), []);
  useEffectAtOnce(() => {
    const { width, height } = size.value;
    model.size.value = { width: Math.max(0, width - namesWidth), height };
  });
  useEffectAtOnce(() => {
    const wanted = model.scrollTo.value;
    if (wanted && body.current) body.current.scrollTop = wanted.y;
  });
  useKeys(() => timelineKeys(model, (pixels) => body.current?.scrollBy(0, pixels)));
  useMouseHelp(timelineMouse);
  return (
    <div class="tl-body" ref={body} onScroll={(event) => (model.top.value = event.currentTarget.scrollTop)}>
      <div class="tl-space" style={{ height: `${model.height.value}px` }}>
        <div class="tl-sticky" style={{ height: `${model.size.value.height}px` }}>
          <Names model={model} />
          <div
            class="tl-picture"
            role="application"
            tabIndex={0}
            aria-busy={model.busy.value}
            aria-label={describe(model)}
            aria-keyshortcuts="w a s d f . , [ ]"
          >
            <Surface model={model} pointer={pointer} />
            <HoverCard model={model} />
            {model.busy.value && !model.drawn.value && <Loading what="Reading events" />}
          </div>
        </div>
      </div>
    </div>
  );
}

function describe(model: TimelineModel): string {
  const chosen = model.chosen.value;
  const rows = model.rows.value.length;
  return `Timeline of ${counted(rows, "track")}${chosen ? `; ${escapeName(chosen.name)} is chosen` : ""}. Press ? for its keys.`;
}

export function Timeline(): JSX.Element {
  const model = useMemo(() => new TimelineModel(), []);
  useReactions(model);
  return (
    <div class="timeline">
      <Toolbar model={model} />
      <Legend />
      <Answered of={model.tracks} what="Reading the tracks">
        {({ tracks, building }) =>
          tracks.length === 0 && building !== undefined ? (
            <Loading what="Reading all events" />
          ) : tracks.length === 0 ? (
            <Empty
              what="Nothing was recorded over time"
              hint="fathom info shows which layers recorded, and why others did not"
            />
          ) : (
            <div class="tl-frame">
              <div class="tl-main">
                <div class="tl-head">
                  <Minimap model={model} />
                  <Ruler model={model} />
                </div>
                <Tracks model={model} />
              </div>
              <Details model={model} />
            </div>
          )
        }
      </Answered>
    </div>
  );
}
