// SPDX-License-Identifier: MIT
// What a document without a server holds: answers of the server's routes, as src/serve/page/page_data.h wrote them.
import type { QueryAnswer, TimelineWindow } from "../api/types";

export const elementId = "fathom-data";

export interface InsideAnswer {
  asked: string; // "/flame?weight=time&invert=0"
  status: number;
  answer: unknown;
}

export interface InsideData {
  recording: string; // its name
  is_part: boolean; // the file was made of a part of the recording
  answers: InsideAnswer[];
  statements: { [name: string]: QueryAnswer | null };
  timeline: { level: number; left_out: number; windows: TimelineWindow[] }; // boxes of 2^level ns; 0: single events
}

// null: there is a server.
export function dataInside(document: Document): InsideData | null {
  const element = document.getElementById(elementId);
  return element ? (JSON.parse(element.textContent ?? "") as InsideData) : null;
}
