// SPDX-License-Identifier: MIT
// Any bytes as events of a server, in pieces of any size: what comes out is the same however they
// are cut, and its numbers can be added.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/arrival_events.h"
#include "fleet/model.h"

namespace {

struct Seen {
  std::size_t seconds = 0;
  std::size_t sums = 0;
  std::int64_t missed = 0;
  std::int64_t damaged = 0;
  bool operator==(const Seen&) const = default;
};

Seen read(std::string_view text, std::size_t piece) {
  Seen seen;
  fathom::fleet::ArrivalEvents events;
  const auto arrived = [&](const fathom::fleet::ArrivedSecond& second) {
    ++seen.seconds;
    seen.sums += second.sums.size();
    for (const fathom::fleet::ArrivedSum& sum : second.sums) {
      if (!fathom::fleet::is_job_name(sum.job) || sum.rows < 0 || sum.count < 0) std::abort();
    }
  };
  for (std::size_t at = 0; at < text.size(); at += piece)
    events.take(text.substr(at, piece), arrived);
  seen.missed = events.missed();
  seen.damaged = events.damaged();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (read(text, 1 + data[0] % 7) != read(text, size)) std::abort();
  return 0;
}
