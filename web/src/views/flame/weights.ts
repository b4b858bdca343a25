// SPDX-License-Identifier: MIT
// The weights that recordings have, asked of the server once for each recording.
import { api } from "../../api/client";
import { escapeName } from "../../logic/escape";
import { weightsOf, type CountedEvents } from "../../logic/flame_weights";
import { useAnswer } from "../parts/answer";
import type { Option } from "../parts/choice";

async function eventsOf(recording: string, signal: AbortSignal): Promise<CountedEvents> {
  const names = async (name: "sampled_events" | "region_events"): Promise<string[]> => {
    const { rows } = await api.statement({ name, recording }, signal);
    return rows.map(([event]) => String(event));
  };
  const [sampled, onRegions] = await Promise.all([names("sampled_events"), names("region_events")]);
  return { sampled, onRegions };
}

// What all of these recordings can be drawn by.
export function useWeights(recordings: () => readonly string[]): Option[] {
  const asked = useAnswer(recordings, (all, signal) => Promise.all(all.map((one) => eventsOf(one, signal))));
  return weightsOf(asked.value ?? []).map(({ value, title }) => ({ value, title: escapeName(title) }));
}
