// SPDX-License-Identifier: MIT
// Stacks get a number from their content (FNV), so that recordings of several hosts can be read
// together without translating numbers.
#include "trace/rows/samples.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace fathom::trace {
namespace {

constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

void mix(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  hash = (hash ^ 0xff) * kFnvPrime;  // no UTF-8 text holds this byte: "ab","c" is not "a","bc"
}

void mix(std::uint64_t& hash, const Frame& frame, const Strings& strings) {
  mix(hash, strings.view(frame.function));
  mix(hash, strings.view(frame.module));
  mix(hash, strings.view(frame.file));
  mix(hash, std::to_string(frame.line));
  if (frame.offset == kNull) return;  // as before there were any
  mix(hash, strings.view(frame.build_id));
  mix(hash, std::to_string(frame.offset));
}

}  // namespace

void SampleBatch::sort() {
  std::ranges::stable_sort(rows, [](const SampleRow& a, const SampleRow& b) {
    return std::tie(a.pid, a.tid, a.ts) < std::tie(b.pid, b.tid, b.ts);
  });
}

std::int64_t StackTable::stack(std::span<const Frame> frames, const Strings& strings) {
  if (frames.empty()) return kNull;
  std::uint64_t hash = kFnvBasis;
  for (const Frame& frame : frames) mix(hash, frame, strings);
  const auto id = static_cast<std::int64_t>(hash >> 1);  // never negative: kinder to readers
  if (!known_.insert(id).second) return id;
  std::int32_t depth = 0;
  for (const Frame& frame : frames) frames_.rows.push_back({id, depth++, frame});
  return id;
}

}  // namespace fathom::trace
