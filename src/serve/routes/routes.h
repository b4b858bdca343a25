// SPDX-License-Identifier: MIT
// The routes of the API. Each function adds those of one subject; openapi.json describes them all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/recordings/recordings.h"
#include "fleet/store.h"
#include "serve/http/metrics.h"
#include "serve/http/router.h"
#include "serve/recordings/live_looks.h"
#include "serve/recordings/open_recordings.h"
#include "serve/recordings/recording_cards.h"
#include "serve/routes/arrivals.h"
#include "serve/routes/web_files.h"

namespace fathom::serve {

// What routes work with. All of it outlives the router.
struct Subjects {
  fleet::JobStore* store = nullptr;
  Arrivals* arrivals = nullptr;
};

void add_job_routes(Router& router, const Subjects& subjects);     // /api/v1/jobs…
void add_record_routes(Router& router, const Subjects& subjects);  // benchmarks, records, kinds
void add_agent_routes(Router& router, const Subjects& subjects);   // /api/v1/agents
void add_recording_routes(Router& router, fleet::Recordings& recordings);
void add_self_routes(Router& router, const Subjects& subjects);  // /metrics, /healthz, events …
void add_description_route(Router& router);                      // /openapi.json

// What of a recording a request means (selection_of()); the same words in every route.
inline constexpr std::string_view kSelection = "recording from to host pid tid layers name where";
// Names of parameters out of lists with spaces between them, for Route::takes.
[[nodiscard]] std::vector<std::string_view> parameters(std::string_view own,
                                                       std::string_view selection = {});

// A recording that was named and cannot be opened.
struct NotShown {
  std::string name;
  std::string reason;
};

// What the page asks of recordings.
struct PageSubjects {
  OpenRecordings* recordings = nullptr;
  RecordingCards* cards = nullptr;
  LiveLooks* looks = nullptr;
  std::string_view mode;  // "view", "server" or "file"
  std::vector<NotShown> not_shown = {};
};
// All of the following. A file of the recording, which may hold answers of these, is
// page/export_route.h.
void add_page_data_routes(Router& router, const PageSubjects& page);
void add_view_routes(Router& router, const PageSubjects& page);  // /page, /views, /report, /changes
void add_query_routes(Router& router, OpenRecordings& recordings);  // /query, /schema
void add_diff_route(Router& router, OpenRecordings& recordings);
// Its pictures: /tracks, /timeline, /flame, … They are drawn from an index; until it is there, some
// answers are 503 with these words.
inline constexpr std::string_view kIndexIsBeingMade =
    "the timeline's index is still being made; ask again in a moment";
void add_canvas_routes(Router& router, OpenRecordings& recordings);
// The page itself at /, its files, and the login. `files` outlive the router.
void add_page_routes(Router& router, const WebFiles& files);

}  // namespace fathom::serve
