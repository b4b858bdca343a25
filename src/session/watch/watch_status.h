// SPDX-License-Identifier: MIT
// What a daemon says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/decode/host_rows.h"

namespace fathom::session {

// What came since the daemon was started.
struct Seen {
  std::int64_t rows = 0;
  std::int64_t calls = 0;
  std::map<std::pair<std::string, std::string>, std::int64_t> losses;  // by layer and reason
  void add(const trace::HostRows& rows);
};

// What `fathom watch status` shows.
struct WatchStatus {
  std::int64_t since_realtime_ns = 0;
  std::string socket, recording, whom;
  std::int64_t recordings = 1;
  std::int64_t dropped = 0;
  std::vector<std::string> layers;
  std::int64_t interval_ns = 0;
  std::int64_t connected = 0;
  std::int64_t processes = 0;
  std::uint64_t bytes = 0;
  std::string trouble;
  Seen seen;
};

// JSON: an object of numbers and texts, `layers` a list of texts, `losses` a list of objects.
std::string format_watch_status(const WatchStatus& status);

// "2026-11-15 20:11:05 UTC"
std::string date_in_words(std::int64_t realtime_ns);
// "no daemon ran from … to … (4.10 s)"
std::string gap_in_words(std::int64_t from_ns, std::int64_t to_ns);

}  // namespace fathom::session
