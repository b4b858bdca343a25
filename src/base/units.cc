// SPDX-License-Identifier: MIT
// The half of text.h that deals with numbers and their units.
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "base/text.h"

namespace fathom {
namespace {

constexpr double kKibi = 1024;

// "%.*f" with three significant digits for values below 1000, whole above.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  int decimals = 0;
  if (size < 99.95) decimals = 1;
  if (size < 9.995) decimals = 2;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string whole(double value) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "%.0f", value);
  return text.data();
}

// Divides by `step` while the shown digits would reach it, so that 1023.9 KiB becomes 1.00 MiB and
// not "1024 KiB".
std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::fabs(value) >= step - 0.5) {
    value /= step;
    ++unit;
  }
  const std::string number = unit == 0 ? whole(value) : three_digits(value);
  return units[unit].empty() ? number : number + " " + std::string(units[unit]);
}

std::string hours_and_minutes(double seconds) {
  const long long minutes = std::llround(seconds / 60);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lldh %02lldm", minutes / 60, minutes % 60);
  return text.data();
}

// The power of 1024 that a suffix such as "", "k", "MB" or "GiB" stands for; -1 for anything else.
int power_of(std::string_view suffix) {
  if (suffix.ends_with('B') || suffix.ends_with('b')) {
    suffix.remove_suffix(1);
    if (suffix.size() == 2 && suffix.ends_with('i')) suffix.remove_suffix(1);
  }
  if (suffix.empty()) return 0;
  constexpr std::string_view kLetters = "kmgtp";
  const auto letter = static_cast<char>(suffix[0] | 0x20);
  const std::size_t at = kLetters.find(letter);
  return suffix.size() == 1 && at != std::string_view::npos ? static_cast<int>(at) + 1 : -1;
}

}  // namespace

std::string human_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(bytes, kKibi, kUnits);
}

std::string human_ns(double ns) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  constexpr double kNsPerSecond = 1e9;
  constexpr double kLongSeconds = 3600;
  if (std::fabs(ns) >= kLongSeconds * kNsPerSecond) return hours_and_minutes(ns / kNsPerSecond);
  return scaled(ns, 1000, kUnits);
}

std::string human_count(double count) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  return scaled(count, 1000, kUnits);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const Error wrong{Code::kInvalid, "'" + std::string(text) + "' is not a size",
                    "write a number of bytes, or one with a unit such as 64M or 4GiB"};
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (failure != std::errc() || !(number >= 0)) return wrong;
  const int power = power_of(trim({stop, static_cast<std::size_t>(end - stop)}));
  const double bytes = number * std::pow(kKibi, power);
  constexpr double kLimit = 9.2e18;  // stays within int64, which SQL and JSON use
  if (power < 0 || !(bytes < kLimit)) return wrong;
  return static_cast<std::uint64_t>(bytes);
}

Result<std::int64_t> parse_duration(std::string_view text) {
  struct TimeUnit {
    std::string_view name;
    double ns;
  };
  static constexpr TimeUnit kUnits[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
                                        {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
  const Error wrong{Code::kInvalid, "'" + std::string(text) + "' is not a time",
                    "write a number with a unit such as 100ms or 2s"};
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (failure != std::errc() || !(number >= 0)) return wrong;
  const std::string_view name = trim({stop, static_cast<std::size_t>(end - stop)});
  for (const TimeUnit& unit : kUnits) {
    if (unit.name == name && number * unit.ns < 9.2e18)
      return static_cast<std::int64_t>(number * unit.ns);
  }
  return wrong;
}

}  // namespace fathom
