// SPDX-License-Identifier: MIT
// The objects of Chrome's trace event files, one after the other and with little memory: elements
// of the array `traceEvents`, or of the array that is the whole file (which may lack its end). What
// surrounds them is passed over. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/byte_source.h"
#include "base/result.h"

namespace fathom::analysis {

// Reads forwards only, and holds one object at a time. A damaged object costs itself: it is
// counted, and reading goes on behind it. An error is one of reading the file.
class JsonEvents {
 public:
  // A longer object is dropped and counted.
  static constexpr std::size_t kMaxObject = std::size_t{16} << 20;
  static constexpr std::string_view kTooLong = "event of more than 16 MiB";

  static Result<JsonEvents> open(const std::string& path);
  static JsonEvents of(std::string_view content);

  // The next object, with LineReader::kPadding readable bytes behind it, valid until the next call;
  // nothing at the end.
  Result<std::optional<std::string_view>> next();

  // Objects that were cut off, and things between objects that are none.
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  // Objects beyond kMaxObject. The file is sound; we do not hold so much.
  [[nodiscard]] std::int64_t too_long() const { return too_long_; }
  // Damaged parts of a compressed file.
  [[nodiscard]] std::int64_t damaged_parts() const { return source_.damage(); }
  // Numbers and texts that stand beside the events, as they stood, by their key.
  [[nodiscard]] const std::map<std::string, std::string>& beside() const { return beside_; }

 private:
  enum class Place : std::uint8_t { kStart, kTop, kEvents, kEnd };

  explicit JsonEvents(ByteSource source);
  Result<bool> fill();
  Result<int> peek();
  Result<int> skip_space();
  Result<std::string> read_string();
  Status skip_value(std::string* text);
  Status find_events();
  enum class Object : std::uint8_t { kWhole, kCut, kTooLong };
  Result<Object> read_object();

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool gap_ = false;
  bool in_object_ = false;  // the file is an object around the array
  Place place_ = Place::kStart;
  std::string object_;
  std::int64_t damaged_ = 0;
  std::int64_t too_long_ = 0;
  std::map<std::string, std::string> beside_;
};

// The texts of numbers at the top of an object, quoted or not: `ts` and `dur` have more digits than
// a double keeps.
struct RawTimes {
  std::string_view ts;
  std::string_view dur;
};
[[nodiscard]] RawTimes raw_times(std::string_view object);

}  // namespace fathom::analysis
