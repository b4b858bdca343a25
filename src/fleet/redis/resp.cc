// SPDX-License-Identifier: MIT
// A value is taken from the buffer only when it is there as a whole, or begins an array; arrays
// that are not complete wait in `open_`. So every byte is looked at once, however small the pieces
// are.
#include "fleet/redis/resp.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace fathom::fleet {
namespace {

using Type = RespValue::Type;

Error not_resp(const char* what) {
  return {Code::kCorrupt, std::string("the answer is not Redis' protocol: ") + what,
          "is this the address of a Redis?"};
}

Error too_large(const char* what) {
  return {Code::kCorrupt, std::string("an answer of Redis has too ") + what, ""};
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return number;
}

RespValue text_value(Type type, std::string_view text) {
  RespValue value;
  value.type = type;
  value.text = text;
  return value;
}

RespValue number_value(std::int64_t number) {
  RespValue value;
  value.type = Type::kInteger;
  value.number = number;
  return value;
}

bool is_bulk(char mark) { return mark == '$' || mark == '!' || mark == '='; }
bool is_array(char mark) {
  return mark == '*' || mark == '~' || mark == '>' || mark == '%' || mark == '|';
}

// What stands on one line.
Result<RespValue> plain_value(char mark, std::string_view line) {
  const std::optional<std::int64_t> number = number_of(line);
  switch (mark) {
    case '+':
    case ',':
    case '(':
      return text_value(Type::kString, line);
    case '-':
      return text_value(Type::kError, line);
    case ':':
      if (!number) return not_resp("an invalid integer");
      return number_value(*number);
    case '_':
      if (!line.empty()) return not_resp("a null has a value");
      return RespValue{};
    case '#':
      if (line != "t" && line != "f") return not_resp("an invalid boolean");
      return number_value(line == "t" ? 1 : 0);
    default:
      return not_resp("an unknown type");
  }
}

}  // namespace

void RespReader::feed(std::string_view bytes) {
  if (at_ == buffer_.size()) {
    buffer_.clear();
    at_ = 0;
  } else if (at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_ += bytes;
}

Result<std::optional<RespValue>> RespReader::next() {
  for (;;) {
    std::optional<RespValue> value;
    FATHOM_ASSIGN(const bool went_on, read_value(value));
    if (!went_on) return std::optional<RespValue>();
    if (value) value = close(std::move(*value));
    if (!value) continue;
    bytes_ = values_ = 0;
    return value;
  }
}

// The line after the mark, without its end; none where it is not there yet.
Result<std::optional<std::string_view>> RespReader::line() const {
  const std::string_view left = std::string_view(buffer_).substr(at_ + 1);
  const std::size_t end = left.find('\r');
  if (std::min(end, left.size()) > limits_.line) return too_large("long a line");
  if (end == std::string_view::npos || end + 1 == left.size())
    return std::optional<std::string_view>();
  if (left[end + 1] != '\n') return not_resp("a line ends without CR LF");
  return std::optional(left.substr(0, end));
}

Status RespReader::count(std::size_t bytes) {
  bytes_ += bytes;
  ++values_;
  if (bytes_ > limits_.total) return too_large("many bytes");
  if (values_ > limits_.values) return too_large("many values");
  return {};
}

// False: more bytes are needed. True without a value: an array was begun.
Result<bool> RespReader::read_value(std::optional<RespValue>& value) {
  if (at_ == buffer_.size()) return false;
  const char mark = buffer_[at_];
  if (!is_bulk(mark) && !is_array(mark) &&
      std::string_view("+-:_#,(").find(mark) == std::string_view::npos)
    return not_resp("an unknown type");
  FATHOM_ASSIGN(const std::optional<std::string_view> text, line());
  if (!text) return false;
  if (is_bulk(mark)) return read_bulk(mark, *text, value);
  FATHOM_TRY(count(text->size()));
  const std::size_t after = at_ + 1 + text->size() + 2;
  if (is_array(mark)) {
    FATHOM_TRY(open_array(mark, *text, value));
  } else {
    FATHOM_ASSIGN(value, plain_value(mark, *text));
  }
  at_ = after;
  return true;
}

Result<bool> RespReader::read_bulk(char mark, std::string_view line,
                                   std::optional<RespValue>& value) {
  const std::optional<std::int64_t> length = number_of(line);
  if (!length || *length < -1 || (*length == -1 && mark != '$'))
    return not_resp("an invalid length");
  const std::size_t start = at_ + 1 + line.size() + 2;
  if (*length == -1) {
    FATHOM_TRY(count(0));
    value.emplace();
    at_ = start;
    return true;
  }
  const auto size = static_cast<std::size_t>(*length);
  if (size > limits_.bulk || bytes_ + size > limits_.total) return too_large("long a string");
  if (buffer_.size() - start < size + 2) return false;
  std::string_view bytes(&buffer_[start], size);
  if (std::string_view(&buffer_[start + size], 2) != "\r\n")
    return not_resp("a string is longer than it says");
  if (mark == '=' && (size < 4 || bytes[3] != ':'))
    return not_resp("a verbatim string has no type");
  FATHOM_TRY(count(size));
  if (mark == '=') bytes.remove_prefix(4);
  value = text_value(mark == '!' ? Type::kError : Type::kString, bytes);
  at_ = start + size + 2;
  return true;
}

Status RespReader::open_array(char mark, std::string_view line, std::optional<RespValue>& value) {
  const std::optional<std::int64_t> length = number_of(line);
  if (!length || *length < -1 || (*length == -1 && mark != '*'))
    return not_resp("an invalid length");
  if (*length == -1) {
    value.emplace();
    return {};
  }
  const bool has_pairs = mark == '%' || mark == '|';
  const auto items = static_cast<std::size_t>(*length);
  if (items > limits_.values / (has_pairs ? 2 : 1)) return too_large("many values");
  if (open_.size() >= limits_.depth) return too_large("deep an array");
  RespValue array;
  array.type = mark == '>' ? Type::kPush : Type::kArray;
  if (items == 0 && mark == '|') return {};
  if (items == 0) {
    value = std::move(array);
    return {};
  }
  open_.push_back({std::move(array), has_pairs ? 2 * items : items, mark == '|'});
  return {};
}

// Puts a value where it belongs: into the arrays that wait, the innermost first. What comes back is
// complete.
std::optional<RespValue> RespReader::close(RespValue value) {
  while (!open_.empty()) {
    Open& open = open_.back();
    open.value.items.push_back(std::move(value));
    if (--open.missing > 0) return std::nullopt;
    const bool is_attribute = open.is_attribute;
    value = std::move(open.value);
    open_.pop_back();
    if (is_attribute) return std::nullopt;
  }
  return value;
}

void append_command(std::string& out, const std::vector<std::string_view>& words) {
  out += '*';
  out += std::to_string(words.size());
  out += "\r\n";
  for (const std::string_view word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

}  // namespace fathom::fleet
