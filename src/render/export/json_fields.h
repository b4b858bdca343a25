// SPDX-License-Identifier: MIT
// JSON on one line, as exporters of large files write it: straight into a string, in a layout that
// the format fixes.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "render/json_writer.h"

namespace fathom::render {

inline void append_number(std::string& out, std::int64_t number) {
  char room[24];
  out.append(room, std::to_chars(room, room + sizeof room, number).ptr);
}

// The shortest text that reads back the same; JSON has no NaN and no infinity: null.
void append_real(std::string& out, double number);

// Nanoseconds as microseconds with all their digits: 1234 is 1.234.
void append_us(std::string& out, std::int64_t ns);

// The same as milliseconds, without zeros at the end: 1234000 is 1.234.
void append_ms(std::string& out, std::int64_t ns);

inline void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_json_text(out, text);
  out += '"';
}

// The inside of an object: `"key":value` with commas between.
class JsonFields {
 public:
  explicit JsonFields(std::string& out) : out_(&out), begin_(out.size()) {}

  std::string& key(std::string_view name) {
    if (!first_) *out_ += ',';
    first_ = false;
    append_quoted(*out_, name);
    *out_ += ':';
    return *out_;
  }
  void text(std::string_view name, std::string_view value) { append_quoted(key(name), value); }
  void number(std::string_view name, std::int64_t value) { append_number(key(name), value); }
  // The key of what the program called so: "arg bytes" where the object has "bytes" already.
  std::string& argument(std::string_view name);

 private:
  std::string* out_;
  std::size_t begin_;  // of the object's inside
  bool first_ = true;
};

}  // namespace fathom::render
