// SPDX-License-Identifier: MIT
// What the boxes of a flame graph can be as wide as: one list for the Flame view and for Compare.

export interface WeightOption {
  value: string;
  title: string;
}

// Of one recording: events that were sampled, and events that were counted on regions.
export interface CountedEvents {
  sampled: readonly string[];
  onRegions: readonly string[];
}

const ALWAYS: readonly WeightOption[] = [
  { value: "time", title: "time" },
  { value: "cpu", title: "CPU time" },
  { value: "offcpu", title: "time off CPU" },
  { value: "bytes", title: "bytes" },
  { value: "calls", title: "calls" },
];

const OF_REGIONS = "region:";

// Weights of samples are all others: their boxes are sampled functions.
export function isOfCalls(weight: string): boolean {
  return ["time", "bytes", "calls"].includes(weight) || weight.startsWith(OF_REGIONS);
}

function inAll(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists;
  return first.filter((name) => others.every((list) => list.includes(name)));
}

// Of several recordings, what all of them have: others could not be compared.
export function weightsOf(recordings: readonly CountedEvents[]): WeightOption[] {
  const sampled = inAll(recordings.map((one) => one.sampled));
  const onRegions = inAll(recordings.map((one) => one.onRegions));
  return [
    ...ALWAYS,
    ...sampled.map((event) => ({ value: event, title: `event ${event}` })),
    ...onRegions.map((event) => ({ value: OF_REGIONS + event, title: `${event} on regions` })),
  ];
}
