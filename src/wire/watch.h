/* SPDX-License-Identifier: MIT
   What a daemon (`fathom watch`) and those who turn to it say to each other: one request and one
   reply, each one packet of a SOCK_SEQPACKET socket (docs/formats/watch.md). The kernel tells the
   daemon who asks. */
#pragma once

#include <stdint.h>

#define FATHOM_WATCH_MAGIC UINT32_C(0x57485446) /* "FTHW" */
#define FATHOM_WATCH_VERSION 1

/* Where it listens: root's daemon, and below $XDG_RUNTIME_DIR that of anybody else. */
#define FATHOM_WATCH_SOCKET "/run/fathom/watch.sock"
#define FATHOM_WATCH_OWN_SOCKET "/fathom/watch.sock"
#define FATHOM_WATCH_VARIABLE "FATHOM_SOCKET" /* names another one */

/* A daemon sets the time of its socket's file about once a second. One that is older than this
   hangs. */
#define FATHOM_WATCH_PULSE_S 5

enum fathom_watch_verb {
  FATHOM_WATCH_CONNECT = 1,    /* record me, with all my threads, and whatever I make */
  FATHOM_WATCH_DISCONNECT = 2, /* not any more: me alone */
  FATHOM_WATCH_ATTACH = 3,     /* record `pid` */
  FATHOM_WATCH_STATUS = 4,     /* how do you do: a text in JSON */
  FATHOM_WATCH_RELOAD = 5,     /* read the file of settings again */
  FATHOM_WATCH_DETACH = 6,     /* `pid` not any more */
};

struct fathom_watch_request {
  uint32_t magic;
  uint16_t version;
  uint16_t verb;
  int32_t pid; /* attach, detach; else 0 */
  uint32_t unused;
};

enum fathom_watch_answer { FATHOM_WATCH_DONE = 0, FATHOM_WATCH_REFUSED = 1 };

#define FATHOM_WATCH_TEXT 8192

struct fathom_watch_reply {
  uint32_t magic;
  uint16_t version;
  uint16_t answer;
  uint32_t bytes; /* of the text that follows: why not, or what was asked for */
  uint32_t unused;
};
