// SPDX-License-Identifier: MIT
// The next event whose name matches what is searched for, in the whole recording: SQL knows it, the screen does not.
import { api } from "../api/client";
import type { TimelineModel } from "./model";

// A text in SQL; its wildcards lose their meaning.
export function likeText(text: string): string {
  return `'%${text.replace(/[\\%_]/g, (mark) => `\\${mark}`).replaceAll("'", "''")}%' ESCAPE '\\'`;
}

export function nextMatchSql(text: string, time: number, back: boolean): string {
  const [side, order] = back ? ["<", "DESC"] : [">", "ASC"];
  return `SELECT ts, dur, tid, depth FROM events WHERE name ILIKE ${likeText(text)} AND ts ${side} ${Math.round(time)} ORDER BY ts ${order} LIMIT 1`;
}

// Moves the camera to the next match; returns whether there is one.
export async function goToNext(model: TimelineModel, recording: string, text: string, back: boolean): Promise<boolean> {
  const before = model.found.peek();
  const { from, to } = model.camera.peek();
  const time = before && before.text === text ? before.ts : back ? to : from - 1;
  const answer = await api.query(nextMatchSql(text, time, back), recording, 1);
  const [ts, dur, tid, depth] = (answer.rows[0] ?? []).map(Number);
  if (ts === undefined || dur === undefined) return false;
  model.found.value = { text, ts };
  model.reveal(ts, dur, tid ?? null, depth ?? 0);
  return true;
}
