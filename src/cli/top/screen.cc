// SPDX-License-Identifier: MIT
// Tables share the lines that there are: each gets some, those that keys are for the rest. Where
// there is no room, the last ones are left out.
#include "cli/top/screen.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "render/display_width.h"
#include "render/render.h"

namespace fathom::cli::top {
namespace {

constexpr std::size_t kFrame = 3;       // lines of a table beside its rows: title, head, a blank
constexpr std::size_t kFewestRows = 2;  // for less a table is left out
constexpr std::size_t kMarkWidth = 2;   // in front of each row
constexpr std::string_view kKeyLine =
    "q quit  arrows move  Enter open row  Esc back  s sort  Tab table  p pause  h help";
constexpr std::string_view kHelp[] = {
    "q           quit",
    "up, down    move the mark (also k, j; page up, page down, g, G)",
    "Enter       open the marked row; Esc goes back",
    "Tab         select the next table, to which keys apply",
    "s, > and <  sort by the next column, or the one before; r reverses the order",
    "p           pause and resume",
    "h or ?      show this page; any key closes it",
    "",
    "Rates are per second. 100 % is one CPU, or one thread all the time. A call or a wait",
    "counts when it has ended; 'now' is the call that a process has been in longest.",
};

// One character for each that ASCII lacks.
std::string ascii_of(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view one = text.substr(at, code_point_at(text, at).length);
    if (one.size() == 1) out += one;
    if (one.size() > 1) out += one == "…" ? "~" : "?";
    at += one.size();
  }
  return out;
}

// Plain text in at most so many columns; the end gives way.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t width = 0, at = 0;
  while (at < text.size()) {
    const std::size_t length = code_point_at(text, at).length;
    width += render::display_width(std::string_view(text).substr(at, length));
    if (width > columns) break;
    at += length;
  }
  return text.substr(0, at);
}

enum class Paint { kPlain, kTitle, kHead, kMarked, kDim };

class Drawer {
 public:
  Drawer(const Page& page, View& view, ScreenSize size, const ScreenStyle& style)
      : page_(page), view_(view), size_(size), style_(style) {}

  Screen draw() {
    put(page_.title, Paint::kTitle);
    for (const std::string& line : page_.head) put(line, Paint::kPlain);
    if (view_.helps()) {
      put("", Paint::kPlain);
      for (const std::string_view line : kHelp) put(std::string(line), Paint::kPlain);
    } else {
      put_tables();
    }
    while (screen_.lines.size() + 1 < size_.rows) put("", Paint::kPlain);
    if (screen_.lines.size() >= size_.rows && !screen_.lines.empty()) screen_.lines.pop_back();
    put(view_.paused() ? "paused: p resumes  " + std::string(kKeyLine) : std::string(kKeyLine),
        Paint::kDim);
    if (screen_.lines.size() > size_.rows) screen_.lines.resize(size_.rows);
    return std::move(screen_);
  }

 private:
  void put(const std::string& text, Paint paint) {
    std::string line = cut(escape_control(text), size_.columns);
    if (!style_.utf8) line = cut(ascii_of(line), size_.columns);
    screen_.lines.push_back(painted(std::move(line), paint));
  }

  [[nodiscard]] std::string painted(std::string line, Paint paint) const {
    if (!style_.color || paint == Paint::kPlain) return line;
    if (paint == Paint::kMarked)
      line.append(size_.columns - std::min(size_.columns, render::display_width(line)), ' ');
    const std::string_view code = paint == Paint::kTitle  ? "\x1b[1m"
                                  : paint == Paint::kHead ? "\x1b[1;36m"
                                  : paint == Paint::kDim  ? "\x1b[2m"
                                                          : "\x1b[7m";
    return std::string(code) + line + "\x1b[0m";
  }

  // How many rows each table gets; 0: it is left out.
  [[nodiscard]] std::vector<std::size_t> share(std::size_t lines) const {
    const std::vector<Table>& tables = page_.tables;
    const std::size_t focus = view_.focus(page_);
    const auto wanted = [&](std::size_t i) {
      return std::max<std::size_t>(1, tables[i].rows.size());
    };
    std::vector<std::size_t> order{focus};
    for (std::size_t i = 0; i < tables.size(); i++) {
      if (i != focus) order.push_back(i);
    }
    std::vector<std::size_t> rows(tables.size(), 0);
    std::vector<std::size_t> shown;
    std::size_t left = lines;
    for (const std::size_t i : order) {
      const std::size_t least = std::min(kFewestRows, wanted(i));
      if (left < kFrame + least) break;
      left -= kFrame + least;
      rows[i] = least;
      shown.push_back(i);
    }
    for (bool gave = true; gave && left > 0;) {
      gave = false;
      for (const std::size_t i : shown) {
        if (left == 0 || rows[i] >= wanted(i)) continue;
        rows[i]++;
        left--;
        gave = true;
      }
    }
    return rows;
  }

  void put_tables() {
    const std::size_t used = screen_.lines.size() + 1;
    if (page_.tables.empty() || size_.rows <= used) return;
    const std::vector<std::size_t> rows = share(size_.rows - used);
    for (std::size_t i = 0; i < page_.tables.size(); i++) {
      if (rows[i] == 0) continue;
      put("", Paint::kPlain);
      put_table(page_.tables[i], rows[i], i == view_.focus(page_));
    }
  }

  void put_table(const Table& table, std::size_t rows, bool focused) {
    const TableView& view = view_.of(table);
    const std::size_t most = table.rows.size() > rows ? table.rows.size() - rows : 0;
    const std::size_t first =
        focused ? std::min(most, view.marked >= rows ? view.marked - rows + 1 : 0) : 0;
    Table part{table.title, table.columns, {}, table.note};
    const std::size_t last = std::min(table.rows.size(), first + rows);
    part.rows.assign(table.rows.begin() + static_cast<std::ptrdiff_t>(first),
                     table.rows.begin() + static_cast<std::ptrdiff_t>(last));
    put(title_of(table, view, first, last, focused), Paint::kHead);
    if (focused) screen_.visible = rows;
    if (part.rows.empty()) return put("  " + table.note, Paint::kPlain);
    const std::size_t width = size_.columns > kMarkWidth ? size_.columns - kMarkWidth : 1;
    const std::string text = render::render(part, render::Format::kTable, {.width = width});
    const std::vector<std::string_view> lines = split(text, '\n');
    put("  " + std::string(lines[0]), Paint::kTitle);
    for (std::size_t i = 0; i < part.rows.size() && i + 2 < lines.size(); i++) {
      const bool marked = focused && first + i == view.marked;
      put((marked ? "> " : "  ") + std::string(lines[i + 2]),
          marked ? Paint::kMarked : Paint::kPlain);
    }
  }

  static std::string title_of(const Table& table, const TableView& view, std::size_t first,
                              std::size_t last, bool focused) {
    std::string title = table.title;
    if (!view.column.empty()) title += " by " + view.column;
    if (view.reversed) title += ", reversed";
    if (last - first < table.rows.size())
      title += " (" + std::to_string(first + 1) + " to " + std::to_string(last) + " of " +
               std::to_string(table.rows.size()) + ")";
    return (focused ? "* " : "  ") + title;
  }

  const Page& page_;
  View& view_;
  ScreenSize size_;
  ScreenStyle style_;
  Screen screen_;
};

}  // namespace

Screen draw(const Page& page, View& view, ScreenSize size, const ScreenStyle& style) {
  return Drawer(page, view, size, style).draw();
}

}  // namespace fathom::cli::top
