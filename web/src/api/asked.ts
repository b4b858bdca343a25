// SPDX-License-Identifier: MIT
// The answer to a question that a view keeps asking. A new question ends the one before it, and the old answer stays on
// screen until the new one is there.
//
//   const flame = new Asked<FlameAnswer>();
//   useSignalEffect(() => flame.ask((signal) => api.flame(wish.value, part.value, signal)));
//   <Answered of={flame}>{(answer) => <Picture answer={answer} />}</Answered>        (shell/states.tsx)
import { signal, type ReadonlySignal } from "@preact/signals";
import { Refusal, wasAborted } from "./transport";

export type Standing<T> =
  | { kind: "idle" }
  | { kind: "loading"; before: T | null }
  | { kind: "there"; value: T }
  | { kind: "failed"; error: Refusal; before: T | null };

type Question<T> = (signal: AbortSignal) => Promise<T>;

// Waits before a question that nobody could answer is asked again.
const retryAfterMs = [500, 1000, 2000, 5000];

export class Asked<T> {
  private readonly standing = signal<Standing<T>>({ kind: "idle" });
  private running: AbortController | null = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  private question: Question<T> | null = null;
  private failures = 0;

  get state(): ReadonlySignal<Standing<T>> {
    return this.standing;
  }

  // The newest answer, also while another one is being waited for.
  get value(): T | null {
    return newest(this.standing.value);
  }

  ask(question: Question<T>): void {
    this.failures = 0;
    this.question = question;
    void this.run();
  }

  // The same question, because its answer may have changed.
  refresh(): void {
    if (this.question) void this.run();
  }

  stop(): void {
    clearTimeout(this.again);
    this.running?.abort();
    this.running = null;
  }

  private async run(): Promise<void> {
    this.stop();
    const control = new AbortController();
    this.running = control;
    // Peeking: whoever asks inside an effect must not ask again because of the answer.
    const before = newest(this.standing.peek());
    this.standing.value = { kind: "loading", before };
    try {
      const value = await this.question!(control.signal);
      if (control.signal.aborted) return;
      this.failures = 0;
      this.standing.value = { kind: "there", value };
    } catch (error) {
      if (control.signal.aborted || wasAborted(error)) return;
      this.fail(error instanceof Refusal ? error : new Refusal(String(error), -1), before);
    }
  }

  private fail(error: Refusal, before: T | null): void {
    this.standing.value = { kind: "failed", error, before };
    if (!error.passing) return;
    const wait = retryAfterMs[Math.min(this.failures, retryAfterMs.length - 1)]!;
    this.failures += 1;
    this.again = setTimeout(() => void this.run(), wait);
  }
}

function newest<T>(standing: Standing<T>): T | null {
  if (standing.kind === "there") return standing.value;
  return standing.kind === "idle" ? null : standing.before;
}
