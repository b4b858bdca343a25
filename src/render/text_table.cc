// SPDX-License-Identifier: MIT
// Tables for a terminal: columns by display width, numbers to the right. Where the line would not
// fit, columns that matter least are left out until the longest text has a third of it, and texts
// are shortened.
#include <algorithm>

#include "base/escape.h"
#include "base/text.h"
#include "render/cell_text.h"
#include "render/display_width.h"
#include "render/row_text.h"

namespace fathom::render {

namespace {

constexpr std::size_t kGap = 2;         // blanks between columns
constexpr std::size_t kNarrowest = 8;   // a text is not shortened below this
constexpr std::size_t kShort = 16;      // for such a text a column is left out, rather than cut it
constexpr std::size_t kLongsShare = 3;  // of the line: what the longest text keeps
constexpr char kBold[] = "\x1b[1m";
constexpr char kDim[] = "\x1b[2m";
constexpr char kPlain[] = "\x1b[0m";

using Row = std::vector<std::string>;

// A column that is shown.
struct Shown {
  std::size_t place;  // in the table
  std::size_t width;
  bool right;
  unsigned rank;  // how soon it goes; 0: never
};

class Layout {
 public:
  Layout(const Table& table, const Style& style);
  [[nodiscard]] std::string draw() const;

 private:
  void measure();
  void leave_out(std::size_t width);
  void fit(std::size_t width);
  [[nodiscard]] bool says_nothing(std::size_t place) const;
  [[nodiscard]] std::size_t width_wanted(std::size_t width) const;
  [[nodiscard]] std::size_t total(std::size_t of_columns) const;
  [[nodiscard]] std::string line(const Row& row) const;
  [[nodiscard]] std::string rule() const;
  [[nodiscard]] std::string painted(const std::string& text, const char* paint) const;

  const Table& table_;
  const Style& style_;
  Row head_;
  std::vector<Row> rows_;
  std::vector<Shown> shown_;
  std::string left_out_;  // their names
};

Layout::Layout(const Table& table, const Style& style) : table_(table), style_(style) {
  for (const Column& column : table.columns) head_.push_back(escape_name(column.name));
  for (const auto& values : table.rows) {
    Row row;
    for (std::size_t i = 0; i < head_.size(); ++i) {
      const Value cell = i < values.size() ? values[i] : Value();
      row.push_back(human_text(cell, table.columns[i].measure));
    }
    rows_.push_back(std::move(row));
  }
  measure();
  leave_out(style.width);
  fit(style.width);
}

// What is the same in each row goes before all that differs.
void Layout::measure() {
  constexpr unsigned kBeforeOthers = 1U << 8;
  const std::vector<bool> right = numeric_columns(table_);
  for (std::size_t i = 0; i < head_.size(); ++i) {
    std::size_t width = display_width(head_[i]);
    for (const Row& row : rows_) width = std::max(width, display_width(row[i]));
    unsigned rank = table_.columns[i].rank;
    if (rank > 0 && says_nothing(i)) rank += kBeforeOthers;
    shown_.push_back({i, width, right[i], rank});
  }
}

bool Layout::says_nothing(std::size_t place) const {
  const auto cell = [&](const std::vector<Value>& row) {
    return place < row.size() ? plain_text(row[place]) : "";
  };
  if (table_.rows.empty()) return true;
  const std::string first = cell(table_.rows.front());
  if (table_.rows.size() == 1) return first.empty();
  return std::ranges::all_of(table_.rows, [&](const auto& row) { return cell(row) == first; });
}

std::size_t Layout::total(std::size_t of_columns) const {
  return shown_.empty() ? 0 : of_columns + kGap * (shown_.size() - 1);
}

// How long a line has to be, or a column goes.
std::size_t Layout::width_wanted(std::size_t width) const {
  std::size_t sum = 0, longest = 0;
  for (const Shown& column : shown_) {
    sum += column.right ? column.width : std::min(column.width, kShort);
    if (!column.right) longest = std::max(longest, column.width);
  }
  return total(sum - std::min(longest, kShort) + std::min(longest, width / kLongsShare));
}

void Layout::leave_out(std::size_t width) {
  while (width_wanted(width) > width) {
    const auto least = std::ranges::max_element(shown_, {}, &Shown::rank);
    if (least->rank == 0) return;
    if (!left_out_.empty()) left_out_ += ", ";
    left_out_ += head_[least->place];
    shown_.erase(least);
  }
}

// Takes columns from the widest text until the line fits; numbers are never cut.
void Layout::fit(std::size_t width) {
  std::size_t sum = 0;
  for (const Shown& column : shown_) sum += column.width;
  while (total(sum) > width) {
    Shown* widest = nullptr;
    for (Shown& column : shown_) {
      const bool can_shrink = !column.right && column.width > kNarrowest;
      if (can_shrink && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
    --sum;
  }
}

std::string Layout::line(const Row& row) const {
  std::string out;
  for (const Shown& column : shown_) {
    const std::string cell = shorten_middle(row[column.place], column.width);
    const std::string padding(column.width - std::min(column.width, display_width(cell)), ' ');
    if (&column != &shown_.front()) out.append(kGap, ' ');
    out += column.right ? padding + cell : cell + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Layout::rule() const {
  std::string out;
  for (const Shown& column : shown_) {
    if (&column != &shown_.front()) out.append(kGap, ' ');
    for (std::size_t k = 0; k < column.width; ++k) out += "─";
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
  if (!left_out_.empty())
    out += painted("no room for: " + left_out_ + " (--format csv has all)", kDim) + "\n";
  return out;
}

}  // namespace

std::string text_table(const Table& table, const Style& style) {
  return Layout(table, style).draw();
}

}  // namespace fathom::render
