// SPDX-License-Identifier: MIT
// Counters of a Firefox profile. They stand behind the threads, since each names a thread of its
// process. Columns are spilled; memory grows with the number of series.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "render/export/event_stream.h"
#include "render/export/text_spill.h"

namespace fathom::render {

// One thread at a time. Errors are those of the temporary files (text_spill.h) and of the sink.
class FirefoxCounters {
 public:
  // Values of a series come in order of time. The profile wants their changes.
  Status add(const ExportCounter& counter);
  // Host and pid: pids of two machines may be the same.
  using Owner = std::pair<std::string, std::int64_t>;
  static constexpr std::int64_t kNoProcess = -1;
  // Of every counter so far.
  [[nodiscard]] std::set<Owner> owners() const;
  // Where an owner is shown: its thread's place in the profile's list, and that thread's pid.
  struct Place {
    std::size_t thread = 0;
    std::int64_t pid = 0;
  };
  // The inside of the JSON array. `places` has all owners.
  Status move_to(SinkBuffer& out, const std::map<Owner, Place>& places);

 private:
  using Key = std::tuple<std::string, std::int64_t, std::string>;  // host, pid, name
  struct Series {
    std::string unit, layer;
    double last = 0;
    ArraySpill times, changes;
  };
  static Status write(SinkBuffer& out, const std::string& name, Series& series, const Place& place);
  std::map<Key, Series> series_;
};

}  // namespace fathom::render
