// SPDX-License-Identifier: MIT
// By which name a command finds a recording that the page shows.
import type { Recording } from "../../api/types";
import { page } from "../../state/page";

// A server's recordings are opened by their address.
export function placeForCommands(one: Recording): string {
  return one.place ?? (page.value?.mode === "server" ? `${location.origin}/recordings/${one.id}` : one.name);
}
