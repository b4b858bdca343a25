// SPDX-License-Identifier: MIT
// Redis' protocol, RESP2 and RESP3: commands out, values in. The peer is not trusted: lengths and
// depth are bounded before memory is taken, and bytes that are no value end the conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::fleet {

// A plain value that owns all of it. Maps stay lists of pairs: whoever asked knows what the answer
// is.
struct RespValue {
  enum class Type : std::uint8_t {
    kNull,
    kString,   // simple, bulk and verbatim ones, doubles and big numbers: `text`
    kError,    // `text` begins with a word in capitals
    kInteger,  // booleans too: `number`
    kArray,    // sets and maps too, these as key, value, key, value: `items`
    kPush,     // not an answer
  };
  Type type = Type::kNull;
  std::string text;
  std::int64_t number = 0;
  std::vector<RespValue> items;

  [[nodiscard]] bool is_error() const { return type == Type::kError; }
};

struct RespLimits {
  std::size_t line = std::size_t{64} << 10U;     // of simple strings and errors
  std::size_t bulk = std::size_t{512} << 20U;    // of one string; Redis' own limit
  std::size_t total = std::size_t{1024} << 20U;  // of one answer
  std::size_t values = std::size_t{16} << 20U;   // in one answer
  std::size_t depth = 16;
};

// No socket: tests and a fuzzer feed it. Keeps what has come of a value that is not whole, arrays
// that wait for items included. After kCorrupt it is of no more use. One thread.
class RespReader {
 public:
  explicit RespReader(const RespLimits& limits = {}) : limits_(limits) {}

  void feed(std::string_view bytes);
  // The next whole value, or none where more bytes are needed. kCorrupt: these bytes are no RESP or
  // beyond the limits, and whatever follows is not to be read.
  Result<std::optional<RespValue>> next();

  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - at_; }

 private:
  // An array that waits for its items.
  struct Open {
    RespValue value;
    std::size_t missing;
    bool is_attribute;  // read and dropped: it belongs to the value after it
  };

  Result<bool> read_value(std::optional<RespValue>& value);
  Result<bool> read_bulk(char mark, std::string_view line, std::optional<RespValue>& value);
  Status open_array(char mark, std::string_view line, std::optional<RespValue>& value);
  std::optional<RespValue> close(RespValue value);
  Result<std::optional<std::string_view>> line() const;
  Status count(std::size_t bytes);

  RespLimits limits_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::size_t bytes_ = 0;   // of the value at hand
  std::size_t values_ = 0;  // in it
};

// Appends a command: an array of bulk strings, as servers expect it.
void append_command(std::string& out, const std::vector<std::string_view>& words);

}  // namespace fathom::fleet
