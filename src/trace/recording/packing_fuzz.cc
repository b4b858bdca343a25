// SPDX-License-Identifier: MIT
// A whole recording made of fuzzed files is packed by its owner, and then opened. Nothing outside
// of it is written. (Slow beside recording_fuzz: a database writes the Parquet files.)
#include <cstddef>
#include <cstdint>

#include "trace/recording/recording.h"
#include "trace/testing/fuzzed_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  static testing::FuzzedRecording recording(folder.path());
  testing::Pieces pieces(data, size);
  recording.make(pieces);
  (void)recover(recording.path());
  (void)Recording::open(recording.path());
  recording.check_canary();
  return 0;
}
