// SPDX-License-Identifier: MIT
// The answer to a question that a view keeps asking. A new question ends the one before it, and the old answer stays on
// screen until the new one is there, marked as one to another question; or not, where it would be taken for the new one.
//
//   const flame = new Asked<FlameAnswer>();
//   useSignalEffect(() => flame.ask((signal) => api.flame(wish.value, part.value, signal)));
//   <Answered of={flame}>{(answer) => <Picture answer={answer} />}</Answered>        (shell/states.tsx)
import { signal, type ReadonlySignal } from "@preact/signals";
import { Refusal, wasAborted } from "./transport";

export type Standing<T> =
  | { kind: "idle" }
  | { kind: "loading"; before: T | null; other: boolean } // other: `before` answers another question
  | { kind: "there"; value: T }
  | { kind: "failed"; error: Refusal; before: T | null; other: boolean };

type Question<T> = (signal: AbortSignal) => Promise<T>;

// Waits before a question that nobody could answer is asked again.
const retryAfterMs = [500, 1000, 2000, 5000];

// Signals read inside a component or an effect make it run again with each answer. Whoever makes one stops it when it
// goes away: a question under way would be answered into nothing, and its retry go on.
export class Asked<T> {
  private readonly standing = signal<Standing<T>>({ kind: "idle" });
  private running: AbortController | null = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  private onceMore = false; // the one under way may have been answered before what is asked about changed
  private question: Question<T> | null = null;
  private answered: Question<T> | null = null; // by the newest answer
  private failures = 0;

  get state(): ReadonlySignal<Standing<T>> {
    return this.standing;
  }

  // The newest answer, also while another one is being waited for.
  get value(): T | null {
    return newest(this.standing.value);
  }

  // The newest answer, if it is one to the question that is asked now.
  get current(): T | null {
    const standing = this.standing.value;
    return "other" in standing && standing.other ? null : newest(standing);
  }

  // `forget`: the answer before is of something else, such as another recording, and goes at once.
  ask(question: Question<T>, forget = false): void {
    this.failures = 0;
    this.question = question;
    void this.run(forget);
  }

  // The same question, because its answer may have changed. One that is under way is let end first: a recording that is being
  // made changes each second, and an answer may take longer.
  refresh(): void {
    if (this.running) this.onceMore = true;
    else if (this.question) void this.run();
  }

  stop(): void {
    clearTimeout(this.again);
    this.running?.abort();
    this.running = null;
    this.onceMore = false;
  }

  private async run(forget = false): Promise<void> {
    this.stop();
    const control = new AbortController();
    this.running = control;
    // Peeking: whoever asks inside an effect must not ask again because of the answer.
    const before = forget ? null : newest(this.standing.peek());
    const question = this.question!;
    const other = before !== null && this.answered !== question;
    this.standing.value = { kind: "loading", before, other };
    try {
      const value = await question(control.signal);
      if (control.signal.aborted) return;
      this.failures = 0;
      this.answered = question;
      this.standing.value = { kind: "there", value };
    } catch (error) {
      if (control.signal.aborted) return;
      if (!wasAborted(error))
        this.fail(error instanceof Refusal ? error : new Refusal(String(error), -1), before, other);
    }
    this.ended(control);
  }

  private ended(control: AbortController): void {
    if (this.running !== control) return; // whoever heard the answer asked something else
    this.running = null;
    if (this.onceMore) void this.run();
  }

  private fail(error: Refusal, before: T | null, other: boolean): void {
    this.standing.value = { kind: "failed", error, before, other };
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
