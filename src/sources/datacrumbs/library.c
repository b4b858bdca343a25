// SPDX-License-Identifier: MIT
// libdatacrumbs.so and libdatacrumbs_client.so: DataCrumbs' functions as names of those of
// libfathom.so, which they bring along.
#include <datacrumbs/datacrumbs.h>
#include <fathom/fathom.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void datacrumbs_start(void) {
  if (fathom_connect != 0) fathom_connect();
}

EXPORT void datacrumbs_stop(void) {
  if (fathom_disconnect != 0) fathom_disconnect();
}

// Whoever loads it is recorded. libfathom.so turns to the daemon by itself only where it was
// preloaded: here it comes along behind libc. A program that records for itself needs no daemon.
__attribute__((constructor)) static void begin(void) {
  const char* out = getenv("FATHOM_OUT");
  if (out == NULL || *out == 0) datacrumbs_start();
}
