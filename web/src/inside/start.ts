// SPDX-License-Identifier: MIT
// Whether the document holds its data. Then nothing is asked of a server, and the words for
// readers without scripts go.
import { signal } from "@preact/signals";
import { useTransport } from "../api/client";
import { dataInside } from "./data";
import { InsideTransport } from "./transport";

// The finest boxes of a file's timeline have 2^finest ns; -1 where there is a server, which knows every event.
export const finest = signal(-1);

// Returns whether there is a server to follow.
export function startInside(): boolean {
  const data = dataInside(document);
  if (!data) return true;
  const transport = new InsideTransport(data);
  useTransport(transport);
  finest.value = transport.level;
  document.getElementById("without-script")?.remove();
  return false;
}
