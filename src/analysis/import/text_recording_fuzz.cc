// SPDX-License-Identifier: MIT
// Any bytes behind the first line of a textual recording.
#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/import/text_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string mark(fathom::analysis::kTextRecordingMark);
  const std::string text = mark + "\n" + std::string(reinterpret_cast<const char*>(data), size);
  (void)fathom::analysis::check_text_recording(text).has_value();
  return 0;
}
