// SPDX-License-Identifier: MIT
// Server-sent events for all windows of a browser. A browser has six connections to a server, and a stream keeps one: so only
// windows that somebody sees listen, and of those that want the same stream one holds it and tells the others.
import { followStream } from "../api/stream";

export interface Said {
  type: string; // of an event; "open" and "lost" tell of the stream itself
  data: string;
}

type Tell = (said: Said) => void;

// Keeps the stream open until `leave`.
function hold(path: string, tell: Tell, leave: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const stop = followStream(
      path,
      {},
      {
        heard: ({ event, data }) => tell({ type: event, data }),
        opened: (open) => tell({ type: open ? "open" : "lost", data: "" }),
      },
    );
    leave.addEventListener("abort", () => {
      stop();
      done();
    });
  });
}

// Listens to the window that has the stream, and is in the queue to be the next. Without a queue (a page that came unencrypted
// from another machine has none) every window that is seen has a stream of its own.
function join(path: string, hear: Tell): () => void {
  const leave = new AbortController();
  const channel = new BroadcastChannel(path);
  let holds = false;
  let isOpen = false;
  const tell: Tell = (said) => {
    isOpen = said.type !== "lost";
    hear(said);
    channel.postMessage(said);
  };
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.type !== "who?") hear(data);
    else if (holds && isOpen) channel.postMessage({ type: "open", data: "" });
  };
  channel.postMessage({ type: "who?", data: "" });
  const take = (): Promise<void> => {
    holds = true;
    return hold(path, tell, leave.signal);
  };
  const queue = navigator.locks as LockManager | undefined;
  if (queue)
    queue.request(path, { signal: leave.signal }, take).catch(() => {}); // it left before its turn
  else void take();
  return () => {
    leave.abort();
    channel.close();
  };
}

// `path` of the server, as long as somebody sees this window, until the answer is called.
export function listen(path: string, hear: Tell): () => void {
  let stop: (() => void) | null = null;
  const look = (): void => {
    if (document.hidden) {
      stop?.();
      stop = null;
    } else {
      stop ??= join(path, hear);
    }
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop?.();
  };
}
