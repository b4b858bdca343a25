// SPDX-License-Identifier: MIT
// What a page without a server says of its limits, and who knows more.
import { finest } from "./start";
import { inFile, recording } from "../state/page";
import { escapeName } from "../logic/escape";

export function viewCommand(): string {
  return `fathom view ${escapeName(recording.value?.name ?? "RECORDING")}`;
}

// Of a timeline whose bins have 2^level ns. "": everything that it could show is there.
export function coarseWords(level: number): string {
  return inFile.value && level < finest.value
    ? `This file has no finer boxes; ${viewCommand()} shows every event. `
    : "";
}

export function fieldsWords(): string {
  return inFile.value ? `This file has names and times; ${viewCommand()} shows all fields of an event.` : "";
}
