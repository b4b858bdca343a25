// SPDX-License-Identifier: MIT
// What names of tracks select: a click one of them, and instead of what was selected; with Ctrl or Shift held, several. Tracks
// that are not selected are not shown, so those that are clicked are marked until the key is let go.
import type { Track } from "../api/types";
import type { Selection } from "../state/hash";

type Chosen = Pick<Selection, "hosts" | "pids" | "tids">;
type Named = Pick<Track, "kind" | "host" | "name" | "pid" | "tid">;

// Nothing for what questions cannot be limited to.
export function selectionOfTrack(track: Named): Partial<Chosen> {
  if (track.kind === "host") return { hosts: [track.host ?? track.name] };
  if (track.kind === "process" && track.pid !== null) return { pids: [track.pid] };
  return track.tid === null ? {} : { tids: [track.tid] };
}

// A second click lets go.
export function clicked(now: Chosen, track: Named): Partial<Chosen> {
  const wanted = selectionOfTrack(track);
  const [key] = Object.keys(wanted) as (keyof Chosen)[];
  return key && now[key].length > 0 ? { [key]: [] } : wanted;
}

export function withTracks(now: Chosen, tracks: readonly Named[]): Partial<Chosen> {
  const all: { [key in keyof Chosen]: (string | number)[] } = { hosts: [], pids: [], tids: [] };
  for (const track of tracks) {
    for (const [key, values] of Object.entries(selectionOfTrack(track))) all[key as keyof Chosen].push(...values);
  }
  const joined = (key: keyof Chosen): unknown[] => [...new Set([...now[key], ...all[key]])];
  const changed = (Object.keys(all) as (keyof Chosen)[]).filter((key) => all[key].length > 0);
  return Object.fromEntries(changed.map((key) => [key, joined(key)])) as Partial<Chosen>;
}
