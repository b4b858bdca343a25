// SPDX-License-Identifier: MIT
// A recording made of fuzzed files is looked at, changed and looked at again, as one that grows.
// Looking writes nothing, neither in it nor outside, and never ends the process.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "analysis/live/live_recording.h"
#include "trace/testing/fuzzed_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  static const trace::testing::TempDir folder;
  static trace::testing::FuzzedRecording recording(folder.path());
  trace::testing::Pieces first(data, size / 2);
  recording.make(first);
  auto live = analysis::LiveRecording::open(recording.path(), {});
  if (!live) return 0;
  const auto before = trace::testing::Canary::tree(recording.path());
  (void)live->look().has_value();
  if (trace::testing::Canary::tree(recording.path()) != before) std::abort();
  trace::testing::Pieces second(data + size / 2, size - size / 2);
  recording.make(second);
  for (int again = 0; again < 2; again++) (void)live->look().has_value();
  recording.check_canary();
  return 0;
}
