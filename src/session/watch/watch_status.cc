// SPDX-License-Identifier: MIT
// The daemon's answer to `fathom watch status`, as JSON. Its words are also used for gaps in the
// recording.
#include "session/watch/watch_status.h"

#include <unistd.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/version.h"

namespace fathom::session {

void Seen::add(const trace::HostRows& more) {
  rows += static_cast<std::int64_t>(more.intervals.rows.size() + more.events.rows());
  for (const trace::IntervalRow& row : more.intervals.rows) calls += row.calls;
  for (const trace::Loss& loss : more.losses) losses[{loss.layer, loss.reason}] += loss.count;
}

std::string format_watch_status(const WatchStatus& status) {
  nlohmann::ordered_json json = {
      {"pid", ::getpid()},
      {"version", version()},
      {"since", date_in_words(status.since_realtime_ns)},
      {"socket", status.socket},
      {"recording", status.recording},
      {"recordings", status.recordings},
      {"dropped", status.dropped},
      {"whom", status.whom},
      {"layers", status.layers},
      {"interval_ns", status.interval_ns},
      {"connected", status.connected},
      {"processes", status.processes},
      {"calls", status.seen.calls},
      {"rows", status.seen.rows},
      {"bytes", status.bytes},
      {"losses", nlohmann::ordered_json::array()},
  };
  for (const auto& [of, count] : status.seen.losses)
    json["losses"].push_back({{"layer", of.first}, {"reason", of.second}, {"count", count}});
  if (!status.trouble.empty()) json["trouble"] = status.trouble;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string date_in_words(std::int64_t realtime_ns) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(realtime_ns / kSecondNs);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

std::string gap_in_words(std::int64_t from_ns, std::int64_t to_ns) {
  return "no daemon ran from " + date_in_words(from_ns) + " to " + date_in_words(to_ns) + " (" +
         human_ns(static_cast<double>(to_ns - from_ns)) + ")";
}

}  // namespace fathom::session
