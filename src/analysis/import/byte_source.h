// SPDX-License-Identifier: MIT
// Bytes of a file as they come out of gzip, or as they are where the file is plain. Included by
// line_reader.cc and tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom::analysis {

// One thread at a time. A gzip file that is cut or damaged is no Error: what is missing is a gap,
// and counted (damage()). An Error means that the file could not be read.
class ByteSource {
 public:
  static Result<ByteSource> open(const std::string& path);
  static ByteSource of(std::string_view content);  // which must outlive it
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills at most `room`; 0 at the end. Where a member of a gzip file is damaged it goes on at the
  // next one that it finds: `gap` is set when bytes are missing before those that this call gave.
  Result<std::size_t> read(std::span<char> room, bool& gap);
  [[nodiscard]] std::int64_t damage() const { return damage_; }

 private:
  class Inflater;
  ByteSource();
  Status refill();
  Result<std::size_t> inflate(std::span<char> room, bool& gap);
  std::size_t inflate_some(std::span<char> room, bool& sound);
  void count_damage();
  Result<bool> begin_member();
  Result<bool> seek_member();

  std::optional<File> file_;
  std::uint64_t offset_ = 0;
  std::vector<char> buffer_;  // of the file; unused for content in memory
  std::string_view input_;    // not yet taken
  bool input_over_ = false;   // input_ is the last
  bool in_member_ = false;
  bool gap_ = false;                    // bytes are missing before those that come next
  std::unique_ptr<Inflater> inflater_;  // none: a plain file
  std::int64_t damage_ = 0;
};

}  // namespace fathom::analysis
