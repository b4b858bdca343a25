// SPDX-License-Identifier: MIT
// An effect of a component that runs as soon as a signal has changed. useSignalEffect waits for the next frame, which is one
// too late for a picture that follows the hand.
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";

export function useEffectAtOnce(run: () => void): void {
  useEffect(() => effect(() => run()), []);
}
