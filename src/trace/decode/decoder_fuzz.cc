// SPDX-License-Identifier: MIT
// Any bytes as a chunk: decoded, its definitions extracted and decoded again.
#include <cstddef>
#include <cstdint>

#include "trace/decode/decoder.h"
#include "trace/decode/definer.h"
#include "trace/recording/processes.h"
#include "trace/testing/spool_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const Schema schema = Schema::parse(testing::kSchemaText).value();
  Strings strings;
  Decoder decoder(strings, Clock(FATHOM_TICK_COUNTER, {1000, 1000}, 0.4),
                  {.paths = PathFilter({"/data"})});
  const Chunk chunk{{data, size}, &schema};
  EventBatch events;
  CounterBatch counters;
  decoder.decode({&chunk, 1}, events, counters);
  events.sort();
  std::uint64_t counted = 0;
  const std::string definitions = extract_definitions(chunk, counted);
  decoder.define(
      {{reinterpret_cast<const std::uint8_t*>(definitions.data()), definitions.size()}, nullptr});
  (void)decoder.take_sums();
  (void)process_rows({decoder.definitions(), decoder.clock(), {}}, "");
  (void)thread_rows({decoder.definitions(), decoder.clock(), {}}, "");
  return 0;
}
