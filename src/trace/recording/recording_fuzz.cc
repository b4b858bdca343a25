// SPDX-License-Identifier: MIT
// A whole recording made of fuzzed files is opened. Reading writes nothing, neither in it nor
// outside, and ends although nobody else does anything.
#include "trace/recording/recording.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trace/testing/fuzzed_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  static const testing::TempDir folder;
  static testing::FuzzedRecording recording(folder.path());
  testing::Pieces pieces(data, size);
  const Need need = pieces.byte() % 2 == 0 ? Need::kEvents : Need::kSums;
  recording.make(pieces);
  const auto before = testing::Canary::tree(recording.path());
  const auto opened = Recording::open(recording.path(), {}, need);
  if (!opened && opened.error().message.find("changes faster") != std::string::npos) std::abort();
  if (testing::Canary::tree(recording.path()) != before) std::abort();
  recording.check_canary();
  return 0;
}
