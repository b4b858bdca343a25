// SPDX-License-Identifier: MIT
// Any bytes as a pool: as a file of its own, and as one of a spool at whose state somebody looks.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "trace/spool/snapshot.h"
#include "trace/spool/spool.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

void read_segments(const Pool& pool) {
  std::uint64_t sum = 0;
  for (std::uint32_t index = 0; index < pool.count(); index++) {
    for (const std::uint8_t byte : pool.records(index, pool.segment(index).progress)) sum += byte;
    (void)pool.records(index, UINT64_MAX);
  }
  [[maybe_unused]] volatile std::uint64_t touched = sum;
}

}  // namespace
}  // namespace fathom::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  static const testing::SpoolBuilder builder(folder.path());
  const std::string path = builder.directory() + "/1-a-0.pool";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const auto pool = Pool::open(path, false)) read_segments(*pool);
  auto spool = Spool::open(builder.directory());
  auto snapshot = spool->snapshot(Clock::of(spool->header()), {});
  if (!snapshot) return 0;
  for (const CallInFlight& call : snapshot->in_flight) (void)call_name(*spool, call);
  return 0;
}
