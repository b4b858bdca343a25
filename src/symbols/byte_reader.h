// SPDX-License-Identifier: MIT
// Numbers out of foreign bytes. Behind the end everything reads as 0 and `ok()` is false from then
// on: readers ask once for each record, not for each number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fathom::symbols {

// Views the bytes, which must stay. Unlike the reader of records (trace/decode), it need not be
// asked after each number.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {
    ok_ = at <= bytes.size();
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return !ok_ || at_ == bytes_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return ok_ ? bytes_.size() - at_ : 0; }

  template <class Number>
  Number number() {
    Number value{};
    if (!has(sizeof value)) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned int shift = 0;; shift += 7) {
      const std::uint8_t next = byte();
      if (shift < 64) value |= std::uint64_t{next & 0x7fU} << shift;
      if ((next & 0x80U) == 0 || !ok_) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned int shift = 0;
    std::uint8_t next = 0;
    do {
      next = byte();
      if (shift < 64) value |= std::uint64_t{next & 0x7fU} << shift;
      shift += 7;
    } while ((next & 0x80U) != 0 && ok_);
    if (shift < 64 && (next & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

  std::string_view bytes(std::uint64_t count) {
    if (!has(count)) return {};
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  void skip(std::uint64_t count) { (void)bytes(count); }
  // Up to a 0, which is passed.
  std::string_view text() {
    const std::size_t end = ok_ ? bytes_.find('\0', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return taken;
  }

 private:
  bool has(std::uint64_t count) {
    ok_ = ok_ && count <= bytes_.size() - at_;
    return ok_;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace fathom::symbols
