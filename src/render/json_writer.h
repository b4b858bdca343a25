// SPDX-License-Identifier: MIT
// Writes JSON as it comes, into a string that the caller may flush and clear between two values.
// Commas are its business; balance is the caller's. Output is valid UTF-8: other bytes become \xNN
// text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fathom::render {

// Refers to the string, which must outlive it; one thread at a time. Nothing fails: a text that is
// not UTF-8 is escaped, and brackets that are not balanced are a bug of the caller.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(&out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& value(std::same_as<bool> auto yes) { return literal(yes ? "true" : "false"); }
  JsonWriter& value(std::signed_integral auto number) { return integer(number); }
  JsonWriter& value(std::unsigned_integral auto number) requires(
      !std::same_as<decltype(number), bool>) {
    return unsigned_integer(number);
  }
  JsonWriter& value(
      double number);  // shortest text that reads back the same; NaN and infinities are null
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const Value& cell);

  // Puts what comes next on a line of its own.
  JsonWriter& new_line();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& literal(std::string_view text);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& unsigned_integer(std::uint64_t number);
  void before_value();
  void write_line_end();

  std::string* out_;
  std::vector<bool> has_items_;  // of each open bracket
  bool after_key_ = false;
  bool line_due_ = false;
};

// The text between JSON's quotes, without them.
void append_json_text(std::string& out, std::string_view text);

}  // namespace fathom::render
