// SPDX-License-Identifier: MIT
// Where an export goes: a file, which appears under its name only when it is whole, or standard
// output. Compressed on the way when asked: gzip members of 16 MiB of text each, so that readers
// can work on them side by side.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::render {

// One thread at a time. Owns the file and its temporary name (PATH.part-PID). After an Error from
// write() let it go: the temporary file is removed, and a file that was there before stays.
class ByteSink {
 public:
  // "-" is standard output. Devices and pipes are written to as they are.
  static Result<ByteSink> open(const std::string& path, bool gzip);
  // Goes on at the end of a file, which is there at once; compressed, in a member of its own. What
  // was written before an Error stays there.
  static Result<ByteSink> append(const std::string& path, bool gzip);
  ByteSink(ByteSink&&) noexcept;
  ByteSink& operator=(ByteSink&&) noexcept;
  ~ByteSink();  // without finish() nothing is left of a file

  Status write(std::string_view bytes);
  // Puts the file in its place. Nothing may be written afterwards.
  Status finish();
  // For writers that need a path instead of a sink: what they put there becomes the file at
  // finish(). kUsage where the output is no file.
  Result<std::string> hand_over();

 private:
  class State;
  explicit ByteSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Text that exporters build up and hand over in large pieces. The sink must outlive it; what was
// not flushed when it goes is dropped.
class SinkBuffer {
 public:
  explicit SinkBuffer(ByteSink& sink) : sink_(&sink) {}

  [[nodiscard]] std::string& text() { return text_; }
  // Call between two events.
  Status flush_if_large() { return text_.size() < kLarge ? Status() : flush(); }
  Status flush() {
    Status status = sink_->write(text_);
    text_.clear();
    return status;
  }

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 18;
  ByteSink* sink_;
  std::string text_;
};

}  // namespace fathom::render
