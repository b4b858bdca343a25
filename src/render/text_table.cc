// SPDX-License-Identifier: MIT
// Tables for a terminal: columns by display width, numbers to the right, texts shortened where the
// line would not fit.
#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "render/cell_text.h"
#include "render/display_width.h"
#include "render/row_text.h"

namespace fathom::render {

namespace {

constexpr std::size_t kGap = 2;        // blanks between columns
constexpr std::size_t kNarrowest = 8;  // a text is not shortened below this
constexpr char kBold[] = "\x1b[1m";
constexpr char kDim[] = "\x1b[2m";
constexpr char kPlain[] = "\x1b[0m";

using Row = std::vector<std::string>;

class Layout {
 public:
  Layout(const Table& table, const Style& style);
  [[nodiscard]] std::string draw() const;

 private:
  void fit(std::size_t width);
  [[nodiscard]] std::string line(const Row& row) const;
  [[nodiscard]] std::string rule() const;
  [[nodiscard]] std::string painted(const std::string& text, const char* paint) const;

  const Table& table_;
  const Style& style_;
  std::vector<bool> right_;
  Row head_;
  std::vector<Row> rows_;
  std::vector<std::size_t> widths_;
};

Layout::Layout(const Table& table, const Style& style)
    : table_(table), style_(style), right_(numeric_columns(table)) {
  for (const Column& column : table.columns) {
    head_.push_back(escape_control(column.name));
    widths_.push_back(display_width(head_.back()));
  }
  for (const auto& values : table.rows) {
    Row row;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const Value cell = i < values.size() ? values[i] : Value();
      row.push_back(human_text(cell, table.columns[i].measure));
      widths_[i] = std::max(widths_[i], display_width(row.back()));
    }
    rows_.push_back(std::move(row));
  }
  fit(style.width);
}

// Takes columns from the widest text until the line fits; numbers are never cut.
void Layout::fit(std::size_t width) {
  const std::size_t gaps = widths_.empty() ? 0 : kGap * (widths_.size() - 1);
  std::size_t total = std::accumulate(widths_.begin(), widths_.end(), gaps);
  while (total > width) {
    std::size_t widest = widths_.size();
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const bool can_shrink = !right_[i] && widths_[i] > kNarrowest;
      if (can_shrink && (widest == widths_.size() || widths_[i] > widths_[widest])) widest = i;
    }
    if (widest == widths_.size()) return;
    --widths_[widest];
    --total;
  }
}

std::string Layout::line(const Row& row) const {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = shorten_middle(row[i], widths_[i]);
    const std::string padding(widths_[i] - std::min(widths_[i], display_width(cell)), ' ');
    if (i > 0) out.append(kGap, ' ');
    out += right_[i] ? padding + cell : cell + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Layout::rule() const {
  std::string out;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    if (i > 0) out.append(kGap, ' ');
    for (std::size_t k = 0; k < widths_[i]; ++k) out += "─";
  }
  return out;
}

std::string Layout::painted(const std::string& text, const char* paint) const {
  return style_.color ? paint + text + kPlain : text;
}

std::string Layout::draw() const {
  std::string out;
  if (!head_.empty()) {
    out += painted(line(head_), kBold) + "\n";
    out += painted(rule(), kDim) + "\n";
  }
  for (const Row& row : rows_) out += line(row) + "\n";
  if (!table_.note.empty()) out += painted(escape_control(table_.note), kDim) + "\n";
  return out;
}

}  // namespace

std::string text_table(const Table& table, const Style& style) {
  return Layout(table, style).draw();
}

}  // namespace fathom::render
