// SPDX-License-Identifier: MIT
// What a recording lost, as lines to read. The server says it as a list of reasons, or as a number.
import { counted, withThousands } from "./units";

interface Loss {
  layer?: string;
  reason?: string;
  count?: number;
}

function lineOf({ layer, reason, count }: Loss): string {
  const who = layer ? `${layer}: ` : "";
  return `${who}${withThousands(count ?? 0)} (${reason || "unknown reason"})`;
}

export function lossesOf(lost: unknown): string[] {
  if (typeof lost === "number") return lost > 0 ? [counted(lost, "event")] : [];
  if (Array.isArray(lost)) return lost.map((loss) => lineOf(loss as Loss));
  if (lost === null || typeof lost !== "object") return [];
  return Object.entries(lost).map(([reason, count]) => lineOf({ reason, count: Number(count) }));
}
