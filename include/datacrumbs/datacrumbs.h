/* SPDX-License-Identifier: MIT
   DataCrumbs' functions on top of Fathom (libdatacrumbs.so): from when to when this process is
   recorded by the daemon `fathom watch`. Linked or preloaded, the library begins by itself. Where
   no daemon runs, nothing happens. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void datacrumbs_start(void);
void datacrumbs_stop(void);

#ifdef __cplusplus
}
#endif
