// SPDX-License-Identifier: MIT
// What an application without a terminal writes comes from the engine as frames: a header of eight
// bytes (the stream, three zeros, the length), then as many bytes. No socket: fuzzers feed it, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace fathom::containers {

enum class Stream : std::uint8_t { kOut, kErr };

// Calls `take` from within feed(), with bytes that are valid during the call. After kCorrupt
// nothing more is to be fed: where the next frame begins is not known.
class OutputSplitter {
 public:
  using Takes = std::function<void(Stream stream, std::string_view bytes)>;

  // `is_raw`: with a terminal there are no frames, and one stream.
  OutputSplitter(bool is_raw, Takes take) : is_raw_(is_raw), take_(std::move(take)) {}

  // Hands on what is there, however the pieces are cut. kCorrupt: this is no frame.
  Status feed(std::string_view bytes);
  // Bytes that a header promised and that did not come.
  [[nodiscard]] std::uint64_t missing() const { return left_ + (is_raw_ ? 0 : held_); }

 private:
  Status begin_frame();

  static constexpr std::size_t kHeader = 8;
  bool is_raw_;
  Takes take_;
  std::array<unsigned char, kHeader> header_{};
  std::size_t held_ = 0;    // bytes of the header that have come
  std::uint64_t left_ = 0;  // of the frame
  Stream stream_ = Stream::kOut;
};

}  // namespace fathom::containers
