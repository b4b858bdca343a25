// SPDX-License-Identifier: MIT
// The selection as the part of the address behind #, and back. What is not said there is all of it, so that short
// addresses stay valid. Views keep settings of their own under names that begin with their id (flame.weight=bytes), tables
// their order under their title (sort.Result=time descending).

export interface Selection {
  view: string;
  recording: string; // "": the first
  from: number | null; // the chosen range, ns; null: not limited
  to: number | null;
  hosts: readonly string[];
  pids: readonly number[];
  tids: readonly number[];
  layers: readonly string[];
  where: string;
  settings: Readonly<Record<string, string>>;
}

export const nothingSelected: Selection = {
  view: "",
  recording: "",
  from: null,
  to: null,
  hosts: [],
  pids: [],
  tids: [],
  layers: [],
  where: "",
  settings: {},
};

// A time, a track, a call or a box of one recording is nothing in another.
const OF_ONE_RECORDING = ["timeline.at", "timeline.pin", "explain.call", "flame.zoom"];

// What is kept when another recording is chosen. Its layers and conditions may be in the other one, too.
export function ofAnotherRecording(chosen: Selection, recording: string): Selection {
  const kept = Object.entries(chosen.settings).filter(([name]) => !OF_ONE_RECORDING.includes(name));
  const settings = Object.fromEntries(kept);
  return { ...chosen, recording, from: null, to: null, hosts: [], pids: [], tids: [], settings };
}

// Only what differs from the usual stands in it, so that addresses stay short and old links keep their meaning.
export function hashOf(selection: Selection): string {
  const said = new URLSearchParams();
  if (selection.recording) said.set("recording", selection.recording);
  if (selection.from !== null) said.set("from", String(selection.from));
  if (selection.to !== null) said.set("to", String(selection.to));
  // An item may hold a comma (a host of a stranger): each has a parameter of its own.
  for (const host of selection.hosts) said.append("host", host);
  for (const pid of selection.pids) said.append("pid", String(pid));
  for (const tid of selection.tids) said.append("tid", String(tid));
  for (const layer of selection.layers) said.append("layer", layer);
  if (selection.where) said.set("where", selection.where);
  for (const [name, value] of Object.entries(selection.settings)) said.set(name, value);
  const rest = said.toString();
  return `#${encodeURIComponent(selection.view)}${rest ? `?${rest}` : ""}`;
}

export function selectionOf(hash: string): Selection {
  const [view = "", rest = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  const said = new URLSearchParams(rest);
  const settings: Record<string, string> = {};
  for (const [name, value] of said) if (name.includes(".")) settings[name] = value;
  const [from, to] = inOrder(timeIn(said.get("from")), timeIn(said.get("to")));
  return {
    view: decoded(view),
    recording: said.get("recording") ?? "",
    from,
    to,
    hosts: said.getAll("host"),
    pids: wholeNumbers(said.getAll("pid")),
    tids: wholeNumbers(said.getAll("tid")),
    layers: said.getAll("layer"),
    where: said.get("where") ?? "",
    settings,
  };
}

function splitOnce(text: string, at: string): string[] {
  const place = text.indexOf(at);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function timeIn(text: string | null): number | null {
  if (text === null || !/^\d{1,16}$/.test(text)) return null;
  const time = Number(text);
  return Number.isSafeInteger(time) ? time : null;
}

function inOrder(from: number | null, to: number | null): [number | null, number | null] {
  if (from !== null && to !== null && from >= to) return [null, null];
  return [from, to];
}

function wholeNumbers(texts: string[]): number[] {
  return texts.filter((text) => /^\d{1,10}$/.test(text)).map(Number);
}
