/* SPDX-License-Identifier: MIT
   How a process of a supervised run that may not open the spool itself (it is another user's by
   now, or in a changed root) gets what it needs from the recorder: packets of a SOCK_SEQPACKET
   socket with an abstract name, or with a path where that is not found, and descriptors in the
   replies (docs/formats/broker.md). */
#pragma once

#include <stdint.h>

#define FATHOM_BROKER_MAGIC UINT32_C(0x42485446) /* "FTHB" */
#define FATHOM_BROKER_VERSION 1

/* NAME-ASK-ANSWER, each FATHOM_BROKER_WORD digits. The name is known to everybody on the machine;
   the other two are known to the programs of the run, which show the first and are shown the
   second. Behind them "-" and the path of the second socket, where there is one. */
#define FATHOM_BROKER_VARIABLE "FATHOM_BROKER"
#define FATHOM_BROKER_WORD 32
#define FATHOM_BROKER_PREFIX "fathom-" /* of the socket's name */
#define FATHOM_BROKER_DOOR "broker-"   /* of the second one's, in the user's private place */

enum fathom_broker_verb {
  FATHOM_BROKER_JOIN = 1,   /* the reply brings run.header, to be read */
  FATHOM_BROKER_SCHEMA = 2, /* the schema's text follows the request */
  FATHOM_BROKER_POOL = 3,   /* the reply brings an empty pool of `segments` */
  FATHOM_BROKER_WHO = 4,    /* the reply tells how the recorder numbers who asks */
};

struct fathom_broker_request {
  uint32_t magic;
  uint16_t version;
  uint16_t verb;
  char ask[FATHOM_BROKER_WORD];
  uint64_t schema_hash; /* join, schema */
  uint64_t process_key; /* pool: its name is made of these two */
  uint32_t serial;
  uint32_t segments; /* pool; who: 1 where a thread asks that is not the first of its process */
};

struct fathom_broker_reply {
  uint32_t magic;
  uint16_t version;
  uint16_t granted; /* 1: yes, 0: no */
  char answer[FATHOM_BROKER_WORD];
  union {
    uint32_t wants_schema; /* join: the spool has none of that hash */
    uint32_t tid;          /* who: 0 until the thread has signed what the reply brings */
  };
  uint32_t pid; /* who: 0 where the recorder cannot see the process */
};

#define FATHOM_BROKER_LARGEST_POOL 1024        /* segments */
#define FATHOM_BROKER_SMALLEST_POOL 2          /* whoever is refused so many asks for no fewer */
#define FATHOM_BROKER_LARGEST_SCHEMA (1 << 17) /* bytes */
