// SPDX-License-Identifier: MIT
// Two recordings compared, as `fathom diff --format json A B` prints it, or two sets of
// repetitions, which are read one after the other within one limit of time.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/repetitions.h"
#include "analysis/compare/sides.h"
#include "base/clock.h"
#include "base/text.h"
#include "render/report_text.h"
#include "serve/http/long_answer.h"
#include "serve/recordings/question_end.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kMostOfASide = 64;

Result<analysis::CompareOptions> options_of(const Request& request) {
  analysis::CompareOptions options;
  if (const std::string by = request.asked("by"); !by.empty()) {
    options.by.clear();
    for (const std::string_view column : split(by, ',')) options.by.emplace_back(column);
  }
  if (const std::string top = request.asked("top"); !top.empty()) {
    const Result<std::int64_t> rows = parse_int(top);
    if (!rows || *rows < 0) return Error{Code::kInvalid, "top must be a whole number from 0", ""};
    options.top = *rows;
  }
  FATHOM_TRY(analysis::check_options(options));
  return options;
}

// What went wrong with a side: the answer to it.
Error refuse(const Error& error, Response response, Response& refused) {
  refused = std::move(response);
  return error;
}

Status add_recording(const Request& request, OpenRecordings& recordings, const std::string& id,
                     analysis::ComparedSide& side, Response& refused) {
  Result<KnownRecording> recording = recordings.places().find(id);
  if (!recording) return refuse(recording.error(), refusal(recording.error()), refused);
  for (const std::string& run : analysis::runs_in(recording->path)) {
    recording->path = run;
    const Result<RecordingLease> lease = recordings.lease_part(request, *recording, {});
    if (!lease) return refuse(lease.error(), refused_lease(lease.error()), refused);
    const Status added = analysis::add_run(side, lease->store(), run);
    if (!added) return refuse(added.error(), lease->refused(added.error()), refused);
  }
  return {};
}

// Ids stand in a line each. One that stands there twice is one recording all the same.
Result<std::vector<std::string>> ids_of(const Request& request, const char* name) {
  std::vector<std::string> ids;
  const std::string text = request.asked(name);
  for (const std::string_view id : split(text, '\n')) {
    if (id.empty() || std::ranges::find(ids, id) != ids.end()) continue;
    if (ids.size() == kMostOfASide)
      return Error{Code::kInvalid,
                   fmt::format("{} names more than {} recordings", name, kMostOfASide),
                   "a directory of recordings counts as one"};
    ids.emplace_back(id);
  }
  if (ids.empty()) return Error{Code::kInvalid, "two recordings are needed: a and b", ""};
  return ids;
}

Result<analysis::ComparedSide> read_side(const Request& request, OpenRecordings& recordings,
                                         const std::vector<std::string>& ids, Response& refused) {
  analysis::ComparedSide side;
  for (const std::string& id : ids)
    FATHOM_TRY(add_recording(request, recordings, id, side, refused));
  return side;
}

Response diff(Request& request, OpenRecordings& recordings) {
  const Result<analysis::CompareOptions> options = options_of(request);
  if (!options) return refusal(options.error());
  const Result<std::vector<std::string>> a = ids_of(request, "a");
  if (!a) return refusal(a.error());
  const Result<std::vector<std::string>> b = ids_of(request, "b");
  if (!b) return refusal(b.error());
  request.deadline_ns = now_monotonic_ns() + recordings.limits().timeout_ns;
  Response refused;
  const Result<analysis::ComparedSide> before = read_side(request, recordings, *a, refused);
  if (!before) return refused;
  const Result<analysis::ComparedSide> after = read_side(request, recordings, *b, refused);
  if (!after) return refused;
  const analysis::SidesReport compared = analysis::compare_sides(*before, *after, *options);
  LongAnswer answer(request.head);
  const std::string text = render::report_text(compared.report, render::Format::kJson, {});
  if (const Status added = answer.add(text); !added) return refusal(added.error());
  Result<Response> response = answer.finish();
  return response ? std::move(*response) : refusal(response.error());
}

}  // namespace

void add_diff_route(Router& router, OpenRecordings& recordings) {
  router.add({"GET",
              "/api/v1/diff",
              Role::kRead,
              [&recordings](Request& r) { return diff(r, recordings); },
              {},
              parameters("a b by top")});
}

}  // namespace fathom::serve
