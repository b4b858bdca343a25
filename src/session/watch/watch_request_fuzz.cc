// SPDX-License-Identifier: MIT
// Any packet that comes to a daemon, and any that comes back from one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "session/watch/watch_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::session;
  const std::span packet(reinterpret_cast<const std::byte*>(data), size);
  if (const auto request = parse_watch_request(packet)) {
    const std::string back = format_watch_request(*request);
    const auto again = parse_watch_request(std::as_bytes(std::span(back)));
    if (!again || again->verb != request->verb || again->process != request->process) std::abort();
  }
  if (const auto reply = parse_watch_reply(packet); reply && reply->size() > size) std::abort();
  return 0;
}
