// SPDX-License-Identifier: MIT
// A small tokenizer that finds object boundaries, so that files larger than memory can be read.
// simdjson then parses one object at a time.
#include "analysis/import/json_events.h"

#include <utility>

#include "analysis/import/line_reader.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;
constexpr std::size_t kMostText = 4096;  // of what stands beside the events
constexpr int kNothing = -1;             // the end of the file

bool is_space(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

JsonEvents::JsonEvents(ByteSource source) : source_(std::move(source)), buffer_(kBuffer) {}

Result<JsonEvents> JsonEvents::open(const std::string& path) {
  FATHOM_ASSIGN(ByteSource source, ByteSource::open(path));
  return JsonEvents(std::move(source));
}

JsonEvents JsonEvents::of(std::string_view content) { return JsonEvents(ByteSource::of(content)); }

Result<bool> JsonEvents::fill() {
  bool gap = false;
  FATHOM_ASSIGN(end_, source_.read(buffer_, gap));
  at_ = 0;
  gap_ = gap_ || gap;
  return end_ > 0;
}

// The next character, which stays.
Result<int> JsonEvents::peek() {
  if (at_ == end_) {
    FATHOM_ASSIGN(const bool more, fill());
    if (!more) return kNothing;
  }
  return static_cast<unsigned char>(buffer_[at_]);
}

Result<int> JsonEvents::skip_space() {
  while (true) {
    FATHOM_ASSIGN(const int c, peek());
    if (!is_space(c)) return c;
    ++at_;
  }
}

// Behind the opening quote; escapes stay as they are.
Result<std::string> JsonEvents::read_string() {
  std::string text;
  bool escaped = false;
  while (true) {
    FATHOM_ASSIGN(const int c, peek());
    if (c == kNothing) return text;
    ++at_;
    if (c == '"' && !escaped) return text;
    escaped = c == '\\' && !escaped;
    if (text.size() < kMostText) text += static_cast<char>(c);
  }
}

// Any value; a number or a text is kept in `text`.
Status JsonEvents::skip_value(std::string* text) {
  FATHOM_ASSIGN(const int first, skip_space());
  if (first == '"') {
    ++at_;
    FATHOM_ASSIGN(*text, read_string());
    return {};
  }
  std::size_t depth = 0;
  while (true) {
    FATHOM_ASSIGN(const int c, peek());
    if (c == kNothing || (depth == 0 && (c == ',' || c == '}' || is_space(c)))) return {};
    ++at_;
    if (c == '"') FATHOM_TRY(read_string());
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0 && --depth == 0) return {};
    if (depth == 0 && text->size() < kMostText) *text += static_cast<char>(c);
  }
}

// On to the array of events, over the keys that stand before or behind it.
Status JsonEvents::find_events() {
  if (place_ == Place::kStart) {
    FATHOM_ASSIGN(const int first, skip_space());
    in_object_ = first == '{';
    place_ = first == '[' ? Place::kEvents : in_object_ ? Place::kTop : Place::kEnd;
    if (first != kNothing) ++at_;
  }
  while (place_ == Place::kTop) {
    FATHOM_ASSIGN(const int c, skip_space());
    if (c == ',') {
      ++at_;
      continue;
    }
    if (c != '"') {
      place_ = Place::kEnd;
      return {};
    }
    ++at_;
    FATHOM_ASSIGN(const std::string key, read_string());
    FATHOM_ASSIGN(const int colon, skip_space());
    if (colon == ':') ++at_;
    FATHOM_ASSIGN(const int value, skip_space());
    if (key == "traceEvents" && value == '[') {
      ++at_;
      place_ = Place::kEvents;
      return {};
    }
    std::string text;
    FATHOM_TRY(skip_value(&text));
    if (!text.empty()) beside_[key] = text;
  }
  return {};
}

// From its opening brace to its end. Of one that is too long nothing is kept.
Result<JsonEvents::Object> JsonEvents::read_object() {
  object_.clear();
  gap_ = false;
  std::size_t depth = 0;
  bool quoted = false;
  bool escaped = false;
  bool too_long = false;
  while (true) {
    FATHOM_ASSIGN(const int c, peek());
    if (c == kNothing || gap_) return Object::kCut;
    ++at_;
    too_long = too_long || object_.size() >= kMaxObject;
    if (!too_long) object_ += static_cast<char>(c);
    if (quoted) {
      if (c == '"' && !escaped) quoted = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return too_long ? Object::kTooLong : Object::kWhole;
    }
  }
}

Result<std::optional<std::string_view>> JsonEvents::next() {
  bool in_rubbish = false;
  while (true) {
    FATHOM_TRY(find_events());
    if (place_ == Place::kEnd) return std::optional<std::string_view>();
    FATHOM_ASSIGN(const int c, skip_space());
    if (c == kNothing) {
      place_ = Place::kEnd;
    } else if (c == '{') {
      FATHOM_ASSIGN(const Object object, read_object());
      if (object == Object::kWhole) break;
      ++(object == Object::kCut ? damaged_ : too_long_);
    } else if (c == ']' && !in_rubbish) {
      ++at_;
      place_ = in_object_ ? Place::kTop : Place::kEnd;
    } else {
      if (c != ',' && !in_rubbish) {
        in_rubbish = true;
        ++damaged_;
      }
      ++at_;
    }
  }
  const std::size_t size = object_.size();
  object_.append(LineReader::kPadding, ' ');
  return std::optional(std::string_view(object_).substr(0, size));
}

RawTimes raw_times(std::string_view object) {
  RawTimes times;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < object.size(); ++at) {
    const char c = object[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t from = ++at;
    while (at < object.size() && object[at] != '"') at += object[at] == '\\' ? 2 : 1;
    if (depth != 1 || at >= object.size()) continue;
    const std::string_view key = object.substr(from, at - from);
    std::string_view* const place = key == "ts" ? &times.ts : key == "dur" ? &times.dur : nullptr;
    const std::size_t colon = object.find_first_not_of(" \t\r\n", at + 1);
    if (place == nullptr || colon == std::string_view::npos || object[colon] != ':') continue;
    const std::size_t value = object.find_first_not_of(" \t\r\n\"", colon + 1);
    if (value == std::string_view::npos) continue;
    *place = object.substr(value, object.find_first_of(" \t\r\n\",}", value) - value);
    // On at the value's last character: it may be followed by a quote that opens nothing.
    at = value + place->size() - 1;
    if (at + 1 < object.size() && object[at + 1] == '"') ++at;
  }
  return times;
}

}  // namespace fathom::analysis
