// SPDX-License-Identifier: MIT
// Values are doubles, which is all that Prometheus keeps: counts are exact up to 2^53.
#include "fleet/http/prometheus.h"

#include <fmt/format.h>

#include <cmath>

#include "base/escape.h"

namespace fathom::fleet {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : escape_name(text)) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

}  // namespace

void PrometheusText::begin_family(std::string_view name, std::string_view type,
                                  std::string_view help) {
  if (!help.empty()) text_ += fmt::format("# HELP {} {}\n", name, help);
  text_ += fmt::format("# TYPE {} {}\n", name, type);
}

void PrometheusText::add(std::string_view name, double value, Labels labels) {
  text_ += name;
  char before = '{';
  for (const auto& [label, content] : labels) {
    text_ += fmt::format("{}{}={}", before, label, quoted(content));
    before = ',';
  }
  text_ += fmt::format("{} {}\n", labels.size() > 0 ? "}" : "", number_text(value));
}

void PrometheusText::add_single(std::string_view name, std::string_view type, std::string_view help,
                                double value) {
  begin_family(name, type, help);
  add(name, value);
}

std::string metric_name(std::string_view prefix, std::string_view name) {
  std::string made(prefix);
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    made += fits ? c : '_';
  }
  return made;
}

}  // namespace fathom::fleet
