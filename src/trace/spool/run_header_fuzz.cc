// SPDX-License-Identifier: MIT
// Any bytes as spool/run.header: what is read from it, and the questions that it answers.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "trace/recording/recording.h"
#include "trace/spool/liveness.h"
#include "trace/spool/spool.h"
#include "trace/testing/spool_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  std::ofstream(folder.path() + "/" FATHOM_RUN_FILE, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto spool = Spool::open(folder.path());
  if (!spool) return 0;
  (void)format_manifest(unsupervised_manifest(*spool));
  Clock clock = Clock::of(spool->header());
  clock.add(clock.read());
  const Liveness liveness(spool->header(), clock);
  const std::uint64_t ticks[] = {0, 1, spool->header().start_tick, UINT64_MAX};
  for (const std::uint64_t tick : ticks) {
    (void)clock.ns(tick);
    (void)liveness.alive({1, 0}, 1, tick);
    (void)liveness.life_since({1, 0}, 1, static_cast<std::int64_t>(tick));
  }
  return 0;
}
