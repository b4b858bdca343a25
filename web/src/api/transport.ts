// SPDX-License-Identifier: MIT
// How questions reach the server and how its refusals read. A Transport is replaced where there is no server: in tests,
// and in a file that carries its data inside.

import { signal } from "@preact/signals";
import { keyHeaders } from "./key";
import { statementText, type StatementName, type Values } from "./statements";
import type { QueryAnswer } from "./types";

export type Params = Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>;

export interface Transport {
  get(path: string, params: Params, signal?: AbortSignal): Promise<unknown>;
  post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown>;
  // One of web/questions.json's statements.
  statement(asked: AskedStatement, signal?: AbortSignal): Promise<QueryAnswer>;
}

export interface AskedStatement {
  name: StatementName;
  values?: Values;
  recording?: string;
  limit?: number;
}

// A question that the server refused, or that did not reach it. `passing`: asking again may help, since nobody answered, or
// since the server is still preparing the answer.
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "Refusal";
  }

  get passing(): boolean {
    return this.status === 0 || this.status === 503;
  }
}

export function wasAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

// The query string; values that say nothing (null, "", []) are left out, so that equal questions have equal addresses.
export function queryOf(params: Params): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    const text = Array.isArray(value) ? value.join(",") : value;
    if (text === undefined || text === null || text === "") continue;
    parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(text))}`);
  }
  return parts.length ? `?${parts.join("&")}` : "";
}

export const apiRoot = "/api/v1";

// Whether the last question reached the server. The frame says so where it did not.
export const reachable = signal(true);

// With no-store: a recording that is being made answers the same address with other rows each second. A failure is
// always a Refusal, with words that a view can show, or the abort that somebody asked for.
export class HttpTransport implements Transport {
  get(path: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    return this.ask(`${apiRoot}${path}${queryOf(params)}`, signal ? { signal } : {});
  }

  post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const headers = { "Content-Type": "application/json" };
    const asked: RequestInit = { method: "POST", headers, body: JSON.stringify(body) };
    if (signal) asked.signal = signal;
    return this.ask(`${apiRoot}${path}`, asked);
  }

  async statement({ name, values, recording, limit }: AskedStatement, signal?: AbortSignal): Promise<QueryAnswer> {
    const body = { recording: recording || undefined, sql: statementText(name, values), limit };
    return (await this.post("/query", body, signal)) as QueryAnswer;
  }

  private async ask(url: string, how: RequestInit): Promise<unknown> {
    let response: Response;
    try {
      const headers = { ...how.headers, ...keyHeaders() };
      response = await fetch(url, { credentials: "same-origin", cache: "no-store", ...how, headers });
    } catch (error) {
      if (wasAborted(error)) throw error;
      reachable.value = false;
      throw new Refusal("The server does not answer; is fathom still running?", 0);
    }
    reachable.value = true;
    if (!response.ok) throw new Refusal(await reasonOf(response), response.status);
    try {
      return await response.json();
    } catch (error) {
      if (wasAborted(error)) throw error;
      throw new Refusal("The server's answer broke off", 0);
    }
  }
}

// The server's words; a proxy in between has none of these.
async function reasonOf(response: Response): Promise<string> {
  if (response.status === 401) {
    return "The server does not know this page; open the address that fathom printed";
  }
  try {
    const said = (await response.json()) as { error?: unknown };
    if (typeof said.error === "string") return said.error;
  } catch {
    // not JSON: the status has to do
  }
  return `The server answered with status ${response.status}`;
}
