// SPDX-License-Identifier: MIT
// The formats are described in CPython's Objects/lnotab_notes.txt (up to 3.10) and
// InternalDocs/code_objects.md (since).
#include "sources/perf/python/line_table.h"

#include <limits>

namespace fathom::sources {
namespace {

// A line as a sum of steps that nobody has checked.
class Line {
 public:
  explicit Line(int first) : value_(first) {}
  void add(std::int64_t step) { value_ += step; }
  [[nodiscard]] int value() const {
    const bool fits = value_ > 0 && value_ <= std::numeric_limits<int>::max();
    return fits ? static_cast<int>(value_) : 0;
  }

 private:
  std::int64_t value_;
};

std::uint8_t byte_at(std::string_view table, std::size_t at) {
  return static_cast<std::uint8_t>(table[at]);
}
std::int8_t step_at(std::string_view table, std::size_t at) {
  return static_cast<std::int8_t>(table[at]);
}

int line_by_steps(std::string_view table, int first_line, std::uint64_t offset) {
  Line line(first_line);
  std::uint64_t begin = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    begin += byte_at(table, at);
    if (begin > offset) break;
    line.add(step_at(table, at + 1));
  }
  return line.value();
}

int line_by_ranges(std::string_view table, int first_line, std::uint64_t offset) {
  constexpr std::int8_t kNoLine = -128;
  Line line(first_line);
  std::uint64_t end = 0;
  for (std::size_t at = 0; at + 1 < table.size(); at += 2) {
    const std::int8_t step = step_at(table, at + 1);
    end += byte_at(table, at);
    if (step != kNoLine) line.add(step);
    if (offset < end) return step == kNoLine ? 0 : line.value();
  }
  return 0;
}

// Six bits a byte, the lowest first; the lowest bit of all is the sign.
std::int64_t signed_number(std::string_view table, std::size_t at) {
  constexpr unsigned int kGoesOn = 64;
  std::uint64_t value = 0;
  for (unsigned int shift = 0; at < table.size() && shift < 60; at++, shift += 6) {
    const std::uint8_t byte = byte_at(table, at);
    value |= std::uint64_t{byte & 63U} << shift;
    if ((byte & kGoesOn) == 0) break;
  }
  const auto size = static_cast<std::int64_t>(value >> 1U);
  return (value & 1U) != 0 ? -size : size;
}

// An entry begins with a byte whose highest bit is set; no other byte of it has that.
std::size_t next_entry(std::string_view table, std::size_t at) {
  constexpr unsigned int kBegins = 128;
  do at++;
  while (at < table.size() && (byte_at(table, at) & kBegins) == 0);
  return at;
}

int line_by_locations(std::string_view table, int first_line, std::uint64_t offset) {
  constexpr unsigned int kNoLine = 15;
  constexpr unsigned int kLongest = 14;
  constexpr unsigned int kNoColumns = 13;
  constexpr unsigned int kOneLine = 10;
  constexpr std::uint64_t kUnit = 2;
  Line line(first_line);
  std::uint64_t end = 0;
  for (std::size_t at = 0; at < table.size(); at = next_entry(table, at)) {
    const std::uint8_t head = byte_at(table, at);
    const unsigned int kind = (head >> 3U) & 15U;
    if (kind == kLongest || kind == kNoColumns) {
      line.add(signed_number(table, at + 1));
    } else if (kind >= kOneLine && kind != kNoLine) {
      line.add(kind - kOneLine);
    }
    end += ((head & 7U) + 1) * kUnit;
    if (offset < end) return kind == kNoLine ? 0 : line.value();
  }
  return 0;
}

}  // namespace

int line_at(LineFormat format, std::string_view table, int first_line, std::uint64_t offset) {
  switch (format) {
    case LineFormat::kSteps:
      return line_by_steps(table, first_line, offset);
    case LineFormat::kRanges:
      return line_by_ranges(table, first_line, offset);
    case LineFormat::kLocations:
      return line_by_locations(table, first_line, offset);
  }
  return 0;
}

}  // namespace fathom::sources
