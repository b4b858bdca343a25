// SPDX-License-Identifier: MIT
// A streaming writer, since results may be larger than memory. Escapes what would steer a terminal,
// because JSON is often looked at in one.
#include "render/json_writer.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/escape.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace fathom::render {

namespace {

template <class T>
void append_number(std::string& out, T number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  out.append(buffer, end);
}

const char* short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return nullptr;
  }
}

void append_unit(std::string& out, char32_t unit) {
  out += "\\u";
  for (unsigned shift = 16; shift > 0;) out += kHexDigits[(unit >> (shift -= 4)) & 0xfU];
}

// As UTF-16, which is how JSON escapes what lies above U+FFFF.
void append_escape(std::string& out, char32_t value) {
  constexpr char32_t kFirstPair = 0x10000;
  if (value < kFirstPair) return append_unit(out, value);
  append_unit(out, 0xd800 + ((value - kFirstPair) >> 10U));
  append_unit(out, 0xdc00 + ((value - kFirstPair) & 0x3ffU));
}

// A terminal that shows JSON is steered by it as little as by a table.
void append_valid_text(std::string& out, std::string_view text) {
  std::size_t kept = 0;  // what needs no escape is copied in one go
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    const CodePoint point =
        ascii ? CodePoint{static_cast<unsigned char>(c), 1, true} : code_point_at(text, i);
    const std::size_t at = std::exchange(i, i + point.length);
    if (c != '"' && c != '\\' && !steers_display(point.value)) continue;
    out.append(text.substr(kept, at - kept));
    kept = i;
    if (const char* escape = short_escape(c)) {
      out += escape;
    } else {
      append_escape(out, point.value);
    }
  }
  out.append(text.substr(kept));
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  if (is_valid_utf8(text)) {
    append_valid_text(out, text);
  } else {
    append_valid_text(out, escape_invalid_utf8(text));
  }
}

void JsonWriter::write_line_end() {
  if (line_due_) *out_ += '\n';
  line_due_ = false;
}

// Commas and line ends are written when the next value comes, since only then it is known that
// there is one.
void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!has_items_.empty()) {
    if (has_items_.back()) *out_ += ',';
    has_items_.back() = true;
  }
  write_line_end();
}

JsonWriter& JsonWriter::new_line() {
  line_due_ = true;
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  before_value();
  *out_ += bracket;
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  write_line_end();
  *out_ += bracket;
  has_items_.pop_back();
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  *out_ += '"';
  append_json_text(*out_, name);
  *out_ += "\":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::literal(std::string_view text) {
  before_value();
  *out_ += text;
  return *this;
}

JsonWriter& JsonWriter::null() { return literal("null"); }

JsonWriter& JsonWriter::integer(std::int64_t number) {
  before_value();
  append_number(*out_, number);
  return *this;
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t number) {
  before_value();
  append_number(*out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  const std::size_t begin = out_->size();
  append_number(*out_, number);
  // A real number stays one for readers that tell 1 from 1.0.
  if (out_->find_first_of(".e", begin) == std::string::npos) *out_ += ".0";
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  *out_ += '"';
  append_json_text(*out_, text);
  *out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::value(const Value& cell) {
  struct Visitor {
    JsonWriter& json;
    void operator()(std::monostate) const { json.null(); }
    void operator()(bool yes) const { json.value(yes); }
    void operator()(std::int64_t number) const { json.value(number); }
    void operator()(std::uint64_t number) const { json.value(number); }
    void operator()(double number) const { json.value(number); }
    void operator()(const std::string& text) const { json.value(text); }
    void operator()(const List& list) const {
      json.begin_array();
      for (const Value& item : list) json.value(item);
      json.end_array();
    }
    void operator()(const Object& object) const {
      json.begin_object();
      for (const auto& [name, item] : object) json.key(name).value(item);
      json.end_object();
    }
  };
  std::visit(Visitor{*this}, cell.data);
  return *this;
}

}  // namespace fathom::render
