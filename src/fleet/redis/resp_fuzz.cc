// SPDX-License-Identifier: MIT
// Any bytes as what a server answers: the outcome must not depend on how they are cut into pieces,
// and stay within the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "fleet/redis/resp.h"

namespace fathom::fleet {
namespace {

constexpr RespLimits kSmall{.line = 64, .bulk = 256, .total = 512, .values = 64, .depth = 4};

void require(bool holds) {
  if (!holds) std::abort();
}

std::size_t count(const RespValue& value, std::size_t depth) {
  require(depth <= kSmall.depth + 1 && value.text.size() <= kSmall.bulk);
  std::size_t values = 1;
  for (const RespValue& item : value.items) values += count(item, depth + 1);
  return values;
}

struct Outcome {
  std::size_t answers = 0;
  std::size_t values = 0;
  bool is_damaged = false;
  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  RespReader reader(kSmall);
  Outcome outcome;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    for (;;) {
      const Result<std::optional<RespValue>> value = reader.next();
      if (!value) {
        outcome.is_damaged = true;
        return outcome;
      }
      if (!*value) break;
      const std::size_t values = count(**value, 1);
      require(values <= kSmall.values);
      outcome.values += values;
      ++outcome.answers;
    }
  }
  return outcome;
}

}  // namespace
}  // namespace fathom::fleet

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fathom::fleet::Outcome whole = fathom::fleet::read(bytes, size);
  fathom::fleet::require(whole == fathom::fleet::read(bytes, 1));
  fathom::fleet::require(whole == fathom::fleet::read(bytes, 7));
  return 0;
}
