// SPDX-License-Identifier: MIT
// libdatacrumbs.so and libdatacrumbs_client.so: DataCrumbs' functions as names of those of
// libfathom.so, which they bring along. That one turns to the daemon when it is loaded.
#include <datacrumbs/datacrumbs.h>
#include <fathom/fathom.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void datacrumbs_start(void) {
  if (fathom_connect != 0) fathom_connect();
}

EXPORT void datacrumbs_stop(void) {
  if (fathom_disconnect != 0) fathom_disconnect();
}
