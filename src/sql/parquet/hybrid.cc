// SPDX-License-Identifier: MIT
// The RLE and bit-packing hybrid after the Parquet specification. Runs are looked for in steps of
// eight, since packed values come in groups of eight anyway.
#include "sql/parquet/hybrid.h"

#include <algorithm>
#include <array>

#include "sql/parquet/bytes.h"

namespace fathom::sql::parquet {
namespace {

constexpr std::size_t kGroup = 8;  // packed values come in groups of eight

template <class T>
bool is_run(std::span<const T> values, std::size_t at) {
  if (values.size() - at < kGroup) return false;
  unsigned differs = 0;
  for (std::size_t i = 1; i < kGroup; ++i) differs |= unsigned{values[at + i]} ^ values[at];
  return differs == 0;
}

template <class T>
std::size_t end_of_run(std::span<const T> values, std::size_t at) {
  const T value = values[at];
  while (at < values.size() && values[at] == value) ++at;
  return at;
}

// Only the last packed stretch of all may end within a group: readers know how many values to take.
template <class T>
void put_packed(std::string& out, std::span<const T> values, unsigned width) {
  if (values.empty()) return;
  const std::size_t whole = values.size() / kGroup * kGroup;
  const auto rest = values.subspan(whole);
  put_varint(out, ((values.size() + kGroup - 1) / kGroup) << 1U | 1U);
  put_bits(out, values.first(whole), width);
  if (rest.empty()) return;
  std::array<T, kGroup> padded{};
  std::copy(rest.begin(), rest.end(), padded.begin());
  put_bits(out, std::span<const T>(padded), width);
}

template <class T>
void put_mixture(std::string& out, std::span<const T> values, unsigned width) {
  std::size_t packed_from = 0;
  std::size_t at = 0;
  while (at < values.size()) {
    if (!is_run(values, at)) {
      at = std::min(at + kGroup, values.size());
      continue;
    }
    put_packed(out, values.subspan(packed_from, at - packed_from), width);
    const std::size_t end = end_of_run(values, at);
    put_run(out, values[at], end - at, width);
    packed_from = at = end;
  }
  put_packed(out, values.subspan(packed_from), width);
}

}  // namespace

void put_run(std::string& out, std::uint32_t value, std::size_t count, unsigned width) {
  put_varint(out, std::uint64_t{count} << 1U);
  out.append(reinterpret_cast<const char*>(&value), (width + 7) / 8);
}

void put_hybrid(std::string& out, std::span<const std::uint8_t> values, unsigned width) {
  put_mixture(out, values, width);
}
void put_hybrid(std::string& out, std::span<const std::uint32_t> values, unsigned width) {
  put_mixture(out, values, width);
}

}  // namespace fathom::sql::parquet
