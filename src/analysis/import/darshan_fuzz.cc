// SPDX-License-Identifier: MIT
// Any bytes as lines of Darshan's two parsers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/import/darshan_line.h"
#include "analysis/import/darshan_records.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  analysis::DarshanJob job;
  analysis::DarshanRecords records;
  for (const std::string_view line : split(text, '\n')) {
    job.learn(line);
    if (const auto counter = analysis::parse_darshan_counter(line)) (void)records.add(*counter);
    (void)analysis::parse_darshan_access(line);
  }
  (void)analysis::is_darshan_log(text);
  (void)job.ranks();
  return 0;
}
