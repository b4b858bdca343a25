// SPDX-License-Identifier: MIT
// Accepts what DFTracer really writes: invalid UTF-8, raw control characters, numbers in quotes.
// Repairs are tried only after the strict parser failed.
#include "analysis/import/pfw_line.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <deque>

#include "analysis/import/line_reader.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace fathom::analysis {
namespace {

// DOM, not On Demand: only this half of simdjson chooses the processor's best code when it runs.
namespace dom = simdjson::dom;

static_assert(LineReader::kPadding >= simdjson::SIMDJSON_PADDING);

// The object without what surrounds it in an array: `[`, a comma, `]`.
std::string_view object_in(std::string_view line) {
  const std::size_t from = line.find_first_not_of(" \t\r[,");
  const std::size_t to = line.find_last_not_of(" \t\r],");
  if (from == std::string_view::npos || to == std::string_view::npos) return {};
  return line.substr(from, to + 1 - from);
}

// Names come from programs, and DFTracer writes their bytes as they are: what is no UTF-8 becomes
// the text \xNN, and a control character its JSON escape.
std::string repaired(std::string_view object) {
  std::string out;
  out.reserve(object.size() + 64);
  for (std::size_t at = 0; at < object.size();) {
    const CodePoint point = code_point_at(object, at);
    const auto byte = static_cast<unsigned char>(object[at]);
    if (!point.valid) {
      out += "\\\\x";
    } else if (byte < 0x20) {
      out += "\\u00";
    } else {
      out += object.substr(at, point.length);
      at += point.length;
      continue;
    }
    append_hex(out, byte);
    ++at;
  }
  return out;
}

// Texts of a line that JSON does not hold as such: numbers, and what is nested. They stay where
// they are until clear().
class Texts {
 public:
  void clear() { numbers_used_ = nested_used_ = 0; }

  std::string_view number(auto value) {
    if (numbers_used_ == numbers_.size()) numbers_.emplace_back();
    std::array<char, 32>& room = numbers_[numbers_used_++];
    const char* const end = std::to_chars(room.data(), room.data() + room.size(), value).ptr;
    return {room.data(), static_cast<std::size_t>(end - room.data())};
  }

  std::string_view nested(dom::element value) {
    if (nested_used_ == nested_.size()) nested_.emplace_back();
    return nested_[nested_used_++] = simdjson::minify(value);
  }

 private:
  std::deque<std::array<char, 32>> numbers_;
  std::deque<std::string> nested_;
  std::size_t numbers_used_ = 0;
  std::size_t nested_used_ = 0;
};

// "" for null.
std::string_view text_of(dom::element value, Texts& texts) {
  switch (value.type()) {
    case dom::element_type::STRING:
      return value.get_string().value_unsafe();
    case dom::element_type::INT64:
      return texts.number(value.get_int64().value_unsafe());
    case dom::element_type::UINT64:
      return texts.number(value.get_uint64().value_unsafe());
    case dom::element_type::DOUBLE:
      return texts.number(value.get_double().value_unsafe());
    case dom::element_type::BOOL:
      return value.get_bool().value_unsafe() ? "true" : "false";
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT:
      return texts.nested(value);
    case dom::element_type::NULL_VALUE:
      break;
  }
  return {};
}

PfwKind kind_of(std::string_view phase) {
  if (phase == "X" || phase == "1" || phase == "i" || phase == "I") return PfwKind::kComplete;
  if (phase == "C" || phase == "2" || phase == "3") return PfwKind::kCounter;
  if (phase == "M" || phase == "4") return PfwKind::kMetadata;
  return PfwKind::kOther;
}

bool read_args(dom::element value, Texts& texts, std::vector<PfwArg>& args) {
  if (value.is_null()) return true;
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return false;
  for (const auto field : object) {
    if (!field.value.is_null()) args.push_back({field.key, text_of(field.value, texts)});
  }
  return true;
}

// Where the text of a field goes; nullptr: nobody asks for it.
std::string_view* place_of(std::string_view key, PfwLine& out) {
  if (key == "name") return &out.name;
  if (key == "cat") return &out.category;
  if (key == "ts") return &out.ts;
  return key == "dur" ? &out.dur : nullptr;
}

// One field of the object. False where it is not what it must be.
bool read_field(std::string_view key, dom::element value, Texts& texts, PfwLine& out) {
  if (key == "args") return read_args(value, texts, out.args);
  if (std::string_view* const place = place_of(key, out)) {
    *place = text_of(value, texts);
    return true;
  }
  if (key == "ph") out.kind = kind_of(text_of(value, texts));
  if (key != "pid" && key != "tid") return true;
  const std::optional<std::int64_t> id = number_of(text_of(value, texts));
  (key == "pid" ? out.pid : out.tid) = id;
  return id.has_value() || value.is_null();
}

}  // namespace

const PfwArg* PfwLine::find(std::string_view key) const {
  for (const PfwArg& arg : args) {
    if (arg.key == key) return &arg;
  }
  return nullptr;
}

std::optional<double> real_of(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return {};
  return value;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && end == text.data() + text.size()) return value;
  const std::optional<double> real = real_of(text);
  constexpr double kLimit = 9.2e18;
  if (!real || *real > kLimit || *real < -kLimit) return {};
  return static_cast<std::int64_t>(*real);
}

class PfwParser::State {
 public:
  dom::parser parser;
  Texts texts;
  std::string repaired;
};

PfwParser::PfwParser() : state_(std::make_unique<State>()) {}
PfwParser::~PfwParser() = default;

PfwParser::Outcome PfwParser::parse(std::string_view line, PfwLine& out) {
  const std::string_view object = object_in(line);
  if (object.empty()) return Outcome::kNothing;
  const Outcome outcome = parse_object(object, out);
  if (outcome != Outcome::kDamaged) return outcome;
  state_->repaired = repaired(object);
  if (state_->repaired.size() == object.size()) return outcome;
  const std::size_t size = state_->repaired.size();
  state_->repaired.append(LineReader::kPadding, ' ');
  return parse_object(std::string_view(state_->repaired).substr(0, size), out);
}

PfwParser::Outcome PfwParser::parse_object(std::string_view text, PfwLine& out) {
  out.kind = PfwKind::kOther;
  out.name = out.category = out.ts = out.dur = {};
  out.pid = out.tid = {};
  out.args.clear();
  state_->texts.clear();
  dom::object object;
  constexpr bool kCopy = false;  // the padding is there
  if (state_->parser.parse(text.data(), text.size(), kCopy).get(object) != simdjson::SUCCESS)
    return Outcome::kDamaged;
  for (const auto field : object) {
    if (!read_field(field.key, field.value, state_->texts, out)) return Outcome::kDamaged;
  }
  return Outcome::kLine;
}

}  // namespace fathom::analysis
