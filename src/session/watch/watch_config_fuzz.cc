// SPDX-License-Identifier: MIT
// Any bytes as a daemon's file of settings, and any as what a daemon left: read, or refused in one
// line that names the place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "session/watch/watch_settings.h"
#include "session/watch/watch_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::session;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto state = parse_watch_state(text)) {
    if (!parse_watch_state(format_watch_state(*state))) std::abort();
  }
  const auto settings = parse_watch_settings(text, "w");
  if (settings) {
    for (const auto& [key, setting] : *settings) {
      if (setting.values.empty() || setting.where.empty()) std::abort();
    }
    return 0;
  }
  const std::string& message = settings.error().message;
  if (message.find('\n') != std::string::npos || !message.starts_with("w")) std::abort();
  return 0;
}
