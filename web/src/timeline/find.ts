// SPDX-License-Identifier: MIT
// The next event whose name matches what is searched for, in all that is selected, at any time: SQL knows it, the screen does not.
import { api } from "../api/client";
import { whereIn } from "../logic/places";
import { part } from "../state/selection";
import type { TimelineModel } from "./model";

// A pattern of SQL that finds the text anywhere; its wildcards lose their meaning.
export function likeText(text: string): string {
  return `%${text.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`;
}

// Moves the camera to the next match; returns whether there is one.
export async function goToNext(model: TimelineModel, recording: string, text: string, back: boolean): Promise<boolean> {
  const before = model.found.peek();
  const { from, to } = model.camera.peek();
  const time = before && before.text === text ? before.ts : back ? to : from - 1;
  const name = back ? "match_before" : "next_match";
  const where = whereIn("events", "true", part.peek());
  const values = { text, like: likeText(text), time, where };
  const answer = await api.statement({ name, values, recording, limit: 1 });
  const [ts, dur, tid, depth] = (answer.rows[0] ?? []).map(Number);
  if (ts === undefined || dur === undefined) return false;
  model.found.value = { text, ts };
  model.reveal(ts, dur, tid ?? null, depth ?? 0);
  return true;
}
