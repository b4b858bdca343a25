// SPDX-License-Identifier: MIT
// Why a flame graph is empty, and what to do about it. What was recorded is not to be recorded again: it is elsewhere.

interface RecordedLayer {
  name: string;
  events: number;
}

const NEEDS: Record<string, { layers: readonly string[]; record: string }> = {
  cpu: { layers: ["cpu"], record: "fathom run --layers +cpu samples what runs on CPUs." },
  offcpu: { layers: ["cpu"], record: "fathom run --layers +cpu samples what threads wait for." },
  bytes: {
    layers: ["posix", "stdio"],
    record: "Layers posix and stdio record what calls move; fathom run records both unless --layers leaves them out.",
  },
};

// An empty picture has a reason, and mostly a command that would change it: it is told, not left to be guessed.
export function whyEmpty(
  weight: string,
  layers: readonly RecordedLayer[],
  limited: boolean,
): { what: string; hint: string } {
  const needs = NEEDS[weight];
  const recorded = !needs || layers.some(({ name, events }) => events > 0 && needs.layers.includes(name));
  if (needs && !recorded) return { what: "Nothing in this recording has such a weight", hint: needs.record };
  if (!layers.some(({ events }) => events > 0)) {
    return {
      what: "Nothing in this recording has such a weight",
      hint: "fathom run -- PROGRAM records the calls that it makes.",
    };
  }
  const samples = weight === "cpu" || weight === "offcpu";
  const what = samples ? "There is no such sample" : "There is no such call";
  if (!limited) return { what: `${what} in this recording`, hint: "Choose another weight." };
  const of = samples ? "Samples belong to layer cpu. " : "";
  return { what: `${what} in what is selected`, hint: `${of}Choose another weight, or a larger part.` };
}
