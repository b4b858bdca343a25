// SPDX-License-Identifier: MIT
// The lines of a text file, plain or gzip (told by its first bytes), one after the other and with
// little memory. A gzip file may be cut or damaged: what is sound comes, and damage() counts what
// was not. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::analysis {

// Moved, not copied: it holds an open file. An error is one of reading; what the content lacks is
// counted.
class LineReader {
 public:
  // Bytes behind each line that may be read though they mean nothing, as simdjson does.
  static constexpr std::size_t kPadding = 64;
  // A longer line is dropped and counted.
  static constexpr std::size_t kMaxLine = std::size_t{64} << 20;
  static constexpr std::string_view kTooLong = "line of more than 64 MiB";

  static Result<LineReader> open(const std::string& path);
  // Reads what is in memory already; `content` must outlive the reader.
  static LineReader of(std::string_view content);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line without its end, valid until the next call; nothing at the end of the file.
  Result<std::optional<std::string_view>> next();

  // Places where bytes were lost: a cut or damaged member of a gzip file.
  [[nodiscard]] std::int64_t damage() const;
  // Lines beyond kMaxLine. The file is sound; we do not hold so much.
  [[nodiscard]] std::int64_t too_long() const;

 private:
  class State;
  explicit LineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::analysis
