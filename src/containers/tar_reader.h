// SPDX-License-Identifier: MIT
// Reads a tar (ustar, with the long names of GNU and pax) as it comes, in pieces of any length.
// Nothing in it is trusted: headers have a sum, names that are handed on are any bytes without a
// zero, and no length takes memory before it is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::containers {

enum class TarKind : std::uint8_t { kFile, kDirectory, kLink, kOther };

struct TarMember {
  TarKind kind = TarKind::kOther;
  std::string name = {};
  std::uint64_t size = 0;  // of its content, which follows
};

// Gets the members as they are read. An error that it returns ends the reading.
class TarConsumer {
 public:
  virtual ~TarConsumer() = default;
  virtual Status begin(const TarMember& member) = 0;
  virtual Status content(std::string_view bytes) = 0;  // never more than its size
  virtual Status end() = 0;
};

// A machine of states, since pieces end anywhere: in a header, in a name, in padding. Does not own
// its consumer. After an error it is of no more use. One thread.
class TarReader {
 public:
  explicit TarReader(TarConsumer& consumer) : consumer_(consumer) {}
  // kCorrupt: this is no tar.
  Status feed(std::string_view bytes);
  // No more comes. kCorrupt: it is cut off.
  [[nodiscard]] Status finish() const;

 private:
  static constexpr std::size_t kBlock = 512;
  enum class State : std::uint8_t { kHeader, kContent, kLongName, kPax, kSkip, kPadding, kEnd };

  Status read_header();
  Status begin_extra(State state, std::uint64_t size);
  Status begin_member(char kind, std::uint64_t size);
  Status take_extra(std::string_view bytes);
  Status end_content();
  void read_pax();

  TarConsumer& consumer_;
  State state_ = State::kHeader;
  std::string block_;      // of a header, or what a long name or pax has so far
  std::string long_name_;  // for the next member; "": none
  std::uint64_t long_size_ = 0;
  bool has_long_size_ = false;
  std::uint64_t left_ = 0;  // of the content
  std::size_t padding_ = 0;
};

}  // namespace fathom::containers
