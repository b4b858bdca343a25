// SPDX-License-Identifier: MIT
// Walks the records of a chunk: heads, times and depths, with every byte checked against the end.
// The caller reads the fields behind a head, or skips them. Included by .cc files of this room
// only.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "trace/decode/schema.h"
#include "wire/record.h"
#include "wire/spool.h"
#include "wire/varint.h"

namespace fathom::trace {

// Each call returns false where the bytes end before the value does; then the position is not to be
// used any more.
class ByteReader {
 public:
  ByteReader(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  bool number(std::uint64_t& value) {
    const std::uint8_t* next = fathom_get_varint(at_, end_, &value);
    if (next == nullptr) return false;
    at_ = next;
    return true;
  }
  bool signed_number(std::int64_t& value) {
    std::uint64_t raw = 0;
    if (!number(raw)) return false;
    value = fathom_unzigzag(raw);
    return true;
  }
  template <class T>
  bool raw(T& value) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) return false;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  bool text(std::string_view& value) {
    std::uint64_t length = 0;
    if (!number(length) || length > FATHOM_TEXT_MAX) return false;
    if (static_cast<std::uint64_t>(end_ - at_) < length) return false;
    value = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(length)};
    at_ += length;
    return true;
  }
  bool skip_numbers(unsigned count) {
    for (; count > 0; count--) {
      if (at_ >= end_) return false;
      const auto bytes = *at_ == 0 ? 9 : std::countr_zero(*at_) + 1;
      if (end_ - at_ < bytes) return false;
      at_ += bytes;
    }
    return true;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] const std::uint8_t* position() const { return at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// What a SWITCH says.
struct RunHead {
  std::uint64_t key = 0;
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
  std::uint64_t thread = 0;
  std::uint64_t run = 0;
  std::uint64_t cursor = 0;
  std::uint64_t tick = 0;
};

// What every record begins with; times and depth are absolute here.
struct RecordHead {
  unsigned kind = 0;
  unsigned flags = 0;
  std::uint8_t depth = 0;      // of records with a time
  std::uint64_t end = 0;       // tick
  std::uint64_t duration = 0;  // ticks
};

constexpr bool has_time(unsigned kind) {
  return kind >= FATHOM_KIND_FIRST ||
         (kind >= FATHOM_KIND_REGION && kind <= FATHOM_KIND_COUNTER_DOUBLE) ||
         (kind >= FATHOM_KIND_THREAD_END && kind <= FATHOM_KIND_WAITED);
}
constexpr bool has_duration(unsigned kind) {
  return kind >= FATHOM_KIND_FIRST || kind == FATHOM_KIND_REGION;
}

// Points into the bytes, which must stay. After kDamaged the rest of the chunk cannot be read:
// where the next record begins is not known.
class RecordWalker {
 public:
  enum class Step { kRecord, kEnd, kDamaged };

  explicit RecordWalker(std::span<const std::uint8_t> bytes)
      : begin_(bytes.data()), reader_(bytes.data(), bytes.data() + bytes.size()) {}

  // Reads the next head, and the fields too if it is a SWITCH (run()). Otherwise the reader stands
  // at the fields, which must be consumed before the next call.
  Step next(RecordHead& head) {
    if (reader_.at_end()) return Step::kEnd;
    record_ = reader_.position();
    std::uint16_t word = 0;
    if (!reader_.raw(word)) return Step::kDamaged;
    head.kind = word & FATHOM_KIND_MASK;
    head.flags = word & ~FATHOM_KIND_MASK;
    if (head.kind == FATHOM_KIND_NONE) return Step::kEnd;
    if (head.kind == FATHOM_KIND_SWITCH) return read_switch() ? Step::kRecord : Step::kDamaged;
    if (!started_) return Step::kDamaged;
    if (has_time(head.kind) && !read_time(head)) return Step::kDamaged;
    return Step::kRecord;
  }

  [[nodiscard]] ByteReader& fields() { return reader_; }
  [[nodiscard]] const RunHead& run() const { return run_; }
  // Where the record whose head was read begins, and where reading stands.
  [[nodiscard]] std::size_t record_offset() const {
    return static_cast<std::size_t>(record_ - begin_);
  }
  [[nodiscard]] std::size_t offset() const {
    return static_cast<std::size_t>(reader_.position() - begin_);
  }

 private:
  bool read_switch() {
    run_ = {};
    if (!reader_.raw(run_.key) || !reader_.number(run_.pid) || !reader_.number(run_.tid) ||
        !reader_.number(run_.thread) || !reader_.number(run_.run) || !reader_.number(run_.cursor) ||
        !reader_.raw(run_.tick)) {
      return false;
    }
    if (run_.pid > INT32_MAX || run_.tid > INT32_MAX || run_.thread > UINT32_MAX ||
        run_.cursor > 255) {
      return false;
    }
    started_ = true;
    depth_ = 0;
    end_ = run_.tick;
    return true;
  }

  bool read_time(RecordHead& head) {
    if ((head.flags & FATHOM_FLAG_DEPTH) != 0 && !reader_.raw(depth_)) return false;
    std::uint64_t delta = 0;
    if (!reader_.number(delta)) return false;
    head.duration = 0;
    if (has_duration(head.kind) && !reader_.number(head.duration)) return false;
    end_ += delta;
    head.depth = depth_;
    head.end = end_;
    return true;
  }

  const std::uint8_t* begin_;
  const std::uint8_t* record_ = nullptr;
  ByteReader reader_;
  RunHead run_;
  bool started_ = false;
  std::uint8_t depth_ = 0;
  std::uint64_t end_ = 0;
};

// Passes over the fields of any record that next() gave, but SWITCH. False where that is damaged or
// the kind unknown.
bool skip_fields(RecordWalker& walker, const RecordHead& head, const Schema* schema);

}  // namespace fathom::trace
