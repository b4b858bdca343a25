// SPDX-License-Identifier: MIT
// Prometheus' text format (version 0.0.4), as servers of ours answer /metrics with.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fathom::fleet {

inline constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// A page that grows, family by family: the format wants a family's samples beside each other. Any
// name may be given, and what the format cannot hold is escaped.
class PrometheusText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // The lines before a family's samples. `name` is a metric's (metric_name); `help` one line.
  void begin_family(std::string_view name, std::string_view type, std::string_view help = {});
  // Values of labels may be any bytes: two that differ stay different.
  void add(std::string_view name, double value, Labels labels = {});
  // A family of one sample.
  void add_single(std::string_view name, std::string_view type, std::string_view help,
                  double value);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Letters, digits and '_' are all that a name may have: anything else becomes '_'.
[[nodiscard]] std::string metric_name(std::string_view prefix, std::string_view name);

}  // namespace fathom::fleet
