// SPDX-License-Identifier: MIT
// Two forms of a value: exact for programs (JSON, CSV), short with a unit for people. One place for
// both, so that a table on a terminal and the same one in a page have the same digits.
#include "render/cell_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/escape.h"
#include "base/text.h"
#include "render/json_writer.h"

namespace fathom::render {

namespace {

std::string json_text(const Value& value) {
  std::string out;
  JsonWriter(out).value(value);
  return out;
}

std::string exact_real(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  return json_text(number);
}

std::string printed(const char* format, int decimals, double number) {
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof buffer, format, decimals, number);
  return {buffer, static_cast<std::size_t>(length)};
}

// Six significant digits or three decimals, whichever says more; no trailing zeros.
std::string short_real(double number) {
  constexpr double kLarge = 1e15;
  constexpr double kSmall = 1e-4;
  const double size = std::fabs(number);
  if (!std::isfinite(number)) return exact_real(number);
  if (number != 0 && (size >= kLarge || size < kSmall)) return printed("%.*g", 6, number);
  const int before_point = size < 1 ? 1 : static_cast<int>(std::log10(size)) + 1;
  std::string text = printed("%.*f", std::max(3, 6 - before_point), number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::optional<double> as_real(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value.data))
    return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

std::string counted(const Value& value, double number) {
  if (const auto* exact = std::get_if<std::int64_t>(&value.data)) return with_thousands(*exact);
  constexpr double kExact = 9e15;
  if (std::fabs(number) >= kExact || number != std::floor(number)) return short_real(number);
  return with_thousands(static_cast<std::int64_t>(number));
}

}  // namespace

bool is_number(const Value& value) { return as_real(value).has_value(); }

std::string with_thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string plain_text(const Value& value) {
  if (value.is_null()) return "";
  if (const auto* text = std::get_if<std::string>(&value.data)) return escape_cell(*text);
  if (const auto* number = std::get_if<double>(&value.data)) return exact_real(*number);
  return json_text(value);
}

std::string human_text(const Value& value, Measure measure) {
  if (value.is_null()) return "-";
  const std::optional<double> number = as_real(value);
  if (const auto* text = std::get_if<std::string>(&value.data)) return escape_name(*text);
  if (!number) return plain_text(value);
  switch (measure) {
    case Measure::kNone:
      return std::holds_alternative<double>(value.data) ? short_real(*number) : plain_text(value);
    case Measure::kNanoseconds:
      return human_ns(*number);
    case Measure::kBytes:
      return human_bytes(*number);
    case Measure::kCount:
      return counted(value, *number);
    case Measure::kPercent:
      return printed("%.*f", 1, *number) + " %";
  }
  return plain_text(value);
}

}  // namespace fathom::render
