/* SPDX-License-Identifier: MIT
   What the gate and the recorder say to each other, over a SOCK_SEQPACKET socket in the container's
   private mount. Two packets, and the end of the connection:

     gate     -> recorder  FATHOM_GATE_READY and the program's path, with a descriptor of the file
                           that the kernel will load; or FATHOM_GATE_FAILED and errno's number
     recorder -> gate      the variables to add, NAME=value each with its zero byte; none is fine
     gate     -> recorder  nothing: the program runs; or FATHOM_GATE_FAILED and errno's number

   The recorder that goes away opens the gate: the application runs unrecorded. */
#pragma once

#define FATHOM_GATE_READY 'R'
#define FATHOM_GATE_FAILED 'F'
#define FATHOM_GATE_MOST_BYTES 65536 /* of a packet */
