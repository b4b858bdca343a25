// SPDX-License-Identifier: MIT
// Any bytes as the text of a schema; records are then decoded by what it declares.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/decode/decoder.h"
#include "trace/decode/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const auto* const end = data + size;
  const auto* const border = std::find(data, end, std::uint8_t{0});  // text, then records
  const std::string_view text(reinterpret_cast<const char*>(data),
                              static_cast<std::size_t>(border - data));
  const auto schema = Schema::parse(text);
  if (!schema || border == end) return 0;
  Strings strings;
  Decoder decoder(strings, Clock(FATHOM_TICK_MONOTONIC_NS, {0, 0}), {});
  const Chunk chunk{{border + 1, end}, &*schema};
  EventBatch events;
  CounterBatch counters;
  decoder.decode({&chunk, 1}, events, counters);
  return 0;
}
