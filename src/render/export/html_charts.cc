// SPDX-License-Identifier: MIT
// Charts as SVG text, so that the page needs no script to be seen, printed or archived. Shapes are
// stretched to the width that there is; labels stand beside them as HTML, which is not, so that
// they stay readable.
#include "render/export/html_charts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/cell.h"
#include "base/text.h"
#include "render/cell_text.h"
#include "render/export/json_fields.h"
#include "render/row_text.h"

namespace fathom::render {
namespace {

constexpr double kWidth = 720;
constexpr std::size_t kColors = 10;  // of the style sheet: --c0 to --c9

std::vector<std::optional<double>> numbers_of(const Value& cell) {
  std::vector<std::optional<double>> numbers;
  const auto* const list = std::get_if<List>(&cell.data);
  for (const Value& value : list == nullptr ? List() : *list) numbers.push_back(number_in(value));
  return numbers;
}

// One decimal: pixels need no more.
std::string px(double value) {
  std::string out;
  append_real(out, std::round(value * 10) / 10);
  return out;
}

// All digits, and no exponent where the number is whole.
std::string exact(double value) {
  constexpr double kWhole = 9e15;
  std::string out;
  if (std::floor(value) == value && std::abs(value) < kWhole) {
    append_number(out, static_cast<std::int64_t>(value));
  } else {
    append_real(out, value);
  }
  return out;
}

std::string color(std::size_t index) { return "var(--c" + std::to_string(index % kColors) + ")"; }

std::string open_svg(double height, const std::string& label) {
  return "<svg viewBox=\"0 0 " + px(kWidth) + " " + px(height) +
         "\" preserveAspectRatio=\"none\" style=\"height:" + px(height) +
         "px\" role=\"img\" aria-label=\"" + html_text(label) + "\">";
}

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
};

std::string rect(const Rect& place, const std::string& style, double value,
                 const std::string& title) {
  return "<rect x=\"" + px(place.x) + "\" y=\"" + px(place.y) + "\" width=\"" + px(place.width) +
         "\" height=\"" + px(place.height) + "\" style=\"" + style + "\" data-value=\"" +
         exact(value) + "\"><title>" + html_text(title) + "</title></rect>";
}

std::string legend(const std::vector<std::string>& names) {
  std::string out = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i) {
    out +=
        "<li><span style=\"background:" + color(i) + "\"></span>" + html_text(names[i]) + "</li>";
  }
  return out + "</ul>";
}

// What stands before the columns that are drawn: "posix read".
std::string label_of(const Table& table, const std::vector<Value>& row, std::size_t columns) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < columns; ++i) {
    if (row[i].is_null() || plain_text(row[i]).empty()) continue;
    words.push_back(human_text(row[i], table.columns[i].measure));
  }
  return words.empty() ? "machine" : join(words, " ");
}

// Columns that name a line: those in front whose values are no measures.
std::size_t naming_columns(const Table& table) {
  std::size_t count = 0;
  while (count + 1 < table.columns.size() && table.columns[count].measure == Measure::kNone)
    ++count;
  return std::max<std::size_t>(count, 1);
}

// Labels in a row, the first at the begin and the last at the end.
std::string time_axis(std::int64_t wall_ns) {
  constexpr int kTicks = 4;
  std::string out = "<div class=\"axis\"><span class=\"label\">0</span>";
  for (int i = 1; i <= kTicks; ++i) {
    const double ns = static_cast<double>(i) / kTicks * static_cast<double>(wall_ns);
    out += "<span class=\"label\">" + html_text(human_ns(ns)) + "</span>";
  }
  return out + "</div>";
}

// What the lists of the last column hold: `over_time` is of the kind of the number before it.
Measure measure_of_lists(const Table& table) {
  const std::size_t last = table.columns.size() - 1;
  const bool like_before = last > 0 && table.columns[last].name == "over_time";
  return table.columns[like_before ? last - 1 : last].measure;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : escape_control(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_table(const Table& table) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  const std::vector<bool> numeric = numeric_columns(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out += numeric[i] ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">";
    out += html_text(table.columns[i].name) + "</th>";
  }
  out += "</tr></thead><tbody>";
  for (const std::vector<Value>& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::optional<double> number = number_in(row[i]);
      const std::string text = row[i].is_null() ? "" : human_text(row[i], table.columns[i].measure);
      out += number ? "<td class=\"n\" data-value=\"" + plain_text(row[i]) + "\">" : "<td>";
      out += html_text(text) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>";
  if (!table.note.empty()) out += "<p class=\"note\">" + html_text(table.note) + "</p>";
  return out;
}

namespace {
std::size_t column_or(const Table& table, std::string_view name, std::size_t other) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return found == table.columns.end() ? other
                                      : static_cast<std::size_t>(found - table.columns.begin());
}
}  // namespace

// A row without a share is no part of the whole.
std::string split_chart(const Table& table) {
  const std::size_t at = column_or(table, "self", 1);
  const std::size_t share = column_or(table, "share", at);
  double whole = 0;
  for (const auto& row : table.rows) {
    if (!row[share].is_null()) whole += std::max(0.0, number_in(row[at]).value_or(0));
  }
  if (whole <= 0) return "";
  constexpr double kHeight = 36;
  std::string out = open_svg(kHeight, table.title);
  std::vector<std::string> names;
  double x = 0;
  for (const auto& row : table.rows) {
    if (row[share].is_null()) continue;
    const double part = std::max(0.0, number_in(row[at]).value_or(0));
    const double width = part / whole * kWidth;
    const std::string name = human_text(row[0], Measure::kNone);
    out += rect({x, 0, width, kHeight}, "fill:" + color(names.size()), part,
                name + ": " + human_text(row[at], table.columns[at].measure));
    names.push_back(name);
    x += width;
  }
  return out + "</svg>" + legend(names);
}

std::string line_chart(const Table& table, std::int64_t wall_ns) {
  constexpr double kHeight = 160, kTop = 4, kBottom = 158;
  double most = 0;
  for (const auto& row : table.rows) {
    for (const auto& value : numbers_of(row.back())) most = std::max(most, value.value_or(0));
  }
  const Measure measure = measure_of_lists(table);
  std::string out = "<p class=\"note\">up to " + html_text(human_text(most, measure)) + "</p>" +
                    open_svg(kHeight, table.title + " over the run");
  out += "<line x1=\"0\" y1=\"" + px(kBottom) + "\" x2=\"" + px(kWidth) + "\" y2=\"" + px(kBottom) +
         "\"/>";
  std::vector<std::string> names;
  for (const auto& row : table.rows) {
    const std::vector<std::optional<double>> values = numbers_of(row.back());
    std::vector<std::string> points, exact_values;
    const double step = kWidth / static_cast<double>(std::max<std::size_t>(values.size(), 1));
    for (std::size_t i = 0; i < values.size(); ++i) {
      exact_values.push_back(values[i] ? exact(*values[i]) : "");
      if (!values[i]) continue;
      const double height = most > 0 ? *values[i] / most * (kBottom - kTop) : 0;
      // Level over the whole bin: even a single one can be seen.
      const double x = static_cast<double>(i) * step;
      points.push_back(px(x) + "," + px(kBottom - height));
      points.push_back(px(x + step) + "," + px(kBottom - height));
    }
    const std::string name = label_of(table, row, naming_columns(table));
    out += "<polyline points=\"" + join(points, " ") + "\" style=\"stroke:" + color(names.size()) +
           "\" data-value=\"" + join(exact_values, ",") + "\"><title>" + html_text(name) +
           "</title></polyline>";
    names.push_back(name);
  }
  return out + "</svg>" + time_axis(wall_ns) + legend(names);
}

}  // namespace fathom::render
