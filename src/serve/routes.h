// SPDX-License-Identifier: MIT
// The routes of the API. Each function adds those of one subject; openapi.json describes them all.
#pragma once

#include <functional>

#include "fleet/recordings.h"
#include "fleet/store.h"
#include "serve/arrivals.h"
#include "serve/metrics.h"
#include "serve/open_recordings.h"
#include "serve/router.h"

namespace fathom::serve {

// What routes work with. All of it outlives the router.
struct Subjects {
  fleet::JobStore* store = nullptr;
  Arrivals* arrivals = nullptr;
};

void add_job_routes(Router& router, const Subjects& subjects);     // /api/v1/jobs…
void add_record_routes(Router& router, const Subjects& subjects);  // benchmarks, records, kinds
void add_recording_routes(Router& router, fleet::Recordings& recordings);
void add_self_routes(Router& router, const Subjects& subjects);  // /metrics, /healthz, events …

// What the page asks of recordings. Its pictures: /tracks, /timeline, /flame, …
void add_canvas_routes(Router& router, OpenRecordings& recordings);

}  // namespace fathom::serve
