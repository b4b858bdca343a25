// SPDX-License-Identifier: MIT
// Lines of `darshan-parser` and `darshan-dxt-parser`: facts about the job in comments, then a
// counter or an access a line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::analysis {

// What the comments say, as far as they were read.
struct DarshanJob {
  std::string command;
  std::string job_id;
  std::string version;
  std::int64_t start_ns = 0;  // since 1970
  std::int64_t run_ns = 0;
  std::int64_t processes = 0;

  // Of which rows are made: a damaged number brings about no more than a million.
  [[nodiscard]] std::int32_t ranks() const {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(processes, 0, 1 << 20));
  }
  // Takes what the comment says; most say nothing of interest.
  void learn(std::string_view comment);
};

// "POSIX	0	630	POSIX_OPENS	2	/x	/	ext4", or
// "total_POSIX_OPENS: 2".
struct DarshanCounter {
  std::string_view module;  // "POSIX"
  std::int64_t rank = -1;   // -1: of all ranks together
  std::uint64_t record = 0;
  std::string_view name;  // "OPENS", without the module's prefix
  std::string_view full_name;
  std::string_view value;
  std::string_view file;  // "" in totals
  bool total = false;
};
[[nodiscard]] std::optional<DarshanCounter> parse_darshan_counter(std::string_view line);

// " X_POSIX  0  write  3  4096  512  0.0300  0.0331"
struct DarshanAccess {
  bool posix = true;  // else MPI-IO
  bool write = false;
  std::int32_t rank = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
[[nodiscard]] std::optional<DarshanAccess> parse_darshan_access(std::string_view line);

// Whether a file that begins so is a log of Darshan's own bytes, and not a text.
[[nodiscard]] bool is_darshan_log(std::string_view head);

}  // namespace fathom::analysis
