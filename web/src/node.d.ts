// SPDX-License-Identifier: MIT
// The little of node that tests of the page's logic use.
declare module "node:test" {
  export function test(name: string, body: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): asserts value;
    match(text: string, pattern: RegExp, message?: string): void;
    throws(body: () => unknown, expected?: RegExp): void;
    rejects(body: Promise<unknown> | (() => Promise<unknown>), expected?: RegExp): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}

declare const process: { env: Record<string, string | undefined> };
