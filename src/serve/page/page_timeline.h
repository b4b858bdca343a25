// SPDX-License-Identifier: MIT
// The timeline of a page without a server: windows over the whole run, as /timeline answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/page/data_text.h"
#include "serve/page/inside_site.h"

namespace fathom::serve {

// One thread at a time. The site must outlive it.
class PageTimeline {
 public:
  PageTimeline(InsideSite& site, std::int64_t wall_ns) : site_(&site), wall_ns_(wall_ns) {}

  // `tracks` is the answer of /tracks.
  void take(const InsideSite::Answer& tracks);
  // {"level":…,"left_out":…,"windows":[…]} in about `most` bytes: every event where there are few,
  // else boxes as narrow as there is room for. Tracks that have no room at all are counted.
  Status write(DataText& to, std::size_t most);

 private:
  struct TrackFacts {
    std::uint64_t id = 0;
    std::int64_t lines = 1;
    bool is_counter = false;
  };
  struct Windows {
    std::vector<std::string> texts;
    std::size_t bytes = 0;
    std::size_t tracks = 0;
  };
  // As many of the tracks as have room.
  Result<Windows> windows(bool of_counters, std::int64_t width, std::size_t most);
  Result<Windows> counters();
  Result<Windows> boxes(std::size_t most);
  [[nodiscard]] std::string next_ids(bool of_counters, std::size_t& at, std::size_t& taken) const;
  [[nodiscard]] std::size_t count(bool of_counters) const;

  InsideSite* site_;
  std::int64_t wall_ns_;
  std::int64_t from_ = 0;
  std::int64_t events_ = 0;  // on all tracks
  unsigned level_ = 0;       // boxes have 2^level ns
  std::vector<TrackFacts> tracks_;
};

}  // namespace fathom::serve
