// SPDX-License-Identifier: MIT
// Sorts a page's tables and keeps the mark on its row while rows come and go: the mark belongs to a
// row's identity, not to its number.
#include "cli/top/view.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace fathom::cli::top {
namespace {

std::optional<double> number_of(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value.data))
    return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

std::string_view text_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

// Whether a row stands before another: large numbers first, texts by the alphabet, what is not
// there last.
bool stands_before(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return !a.is_null() && b.is_null();
  const std::optional<double> x = number_of(a), y = number_of(b);
  if (x && y) return *x > *y;
  return text_of(a) < text_of(b);
}

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (name.empty() || found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

void sort_rows(Table& table, std::vector<std::string>* ids, const TableView& view) {
  const std::optional<std::size_t> column = column_of(table, view.column);
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (column) {
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return stands_before(table.rows[a][*column], table.rows[b][*column]);
    });
  }
  if (view.reversed) std::ranges::reverse(order);
  std::vector<std::vector<Value>> rows;
  std::vector<std::string> sorted_ids;
  for (const std::size_t at : order) {
    rows.push_back(std::move(table.rows[at]));
    if (ids != nullptr && at < ids->size()) sorted_ids.push_back(std::move((*ids)[at]));
  }
  table.rows = std::move(rows);
  if (ids != nullptr) *ids = std::move(sorted_ids);
}

}  // namespace

std::size_t View::focus(const Page& page) const {
  return page.tables.empty() ? 0 : std::min(focus_, page.tables.size() - 1);
}

const TableView& View::of(const Table& table) { return tables_[table.title]; }

// Only the first table's rows have an identity: what it marks can be entered.
void View::arrange(Page& page) {
  for (std::size_t i = 0; i < page.tables.size(); i++) {
    Table& table = page.tables[i];
    TableView& view = tables_[table.title];
    std::vector<std::string>* ids = i == 0 ? &page.ids : nullptr;
    sort_rows(table, ids, view);
    if (ids != nullptr && !view.marked_id.empty()) {
      const auto found = std::ranges::find(*ids, view.marked_id);
      if (found != ids->end()) view.marked = static_cast<std::size_t>(found - ids->begin());
    }
    view.marked = table.rows.empty() ? 0 : std::min(view.marked, table.rows.size() - 1);
  }
}

void View::move(const Page& page, std::ptrdiff_t by) {
  if (page.tables.empty()) return;
  const std::size_t at = focus(page);
  const Table& table = page.tables[at];
  TableView& view = tables_[table.title];
  const auto last = static_cast<std::ptrdiff_t>(table.rows.size()) - 1;
  const auto wanted = static_cast<std::ptrdiff_t>(view.marked) + by;
  view.marked = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(wanted, 0, std::max<std::ptrdiff_t>(0, last)));
  if (at == 0) view.marked_id = view.marked < page.ids.size() ? page.ids[view.marked] : "";
}

void View::sort_by_next(const Table& table, std::ptrdiff_t by) {
  if (table.columns.empty()) return;
  TableView& view = tables_[table.title];
  const auto count = static_cast<std::ptrdiff_t>(table.columns.size());
  const std::optional<std::size_t> now = column_of(table, view.column);
  const std::ptrdiff_t next =
      now ? static_cast<std::ptrdiff_t>(*now) + by : (by > 0 ? 0 : count - 1);
  view.column = table.columns[static_cast<std::size_t>((next + count) % count)].name;
  view.reversed = false;
}

void View::enter(const Page& page) {
  if (page.tables.empty() || focus(page) != 0) return;
  const std::size_t marked = tables_[page.tables[0].title].marked;
  if (marked >= page.ids.size() || page.ids[marked].empty()) return;
  inside_ = page.ids[marked];
  focus_ = 0;
}

// Any key closes the help, and does nothing else.
View::Next View::press(Key key, const Page& page, std::size_t visible) {
  const auto screen = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, visible));
  constexpr std::ptrdiff_t kFar = 1 << 30;
  if (helps_ && key != Key::kQuit) {
    helps_ = false;
    return Next::kGoOn;
  }
  switch (key) {
    case Key::kUp:
      move(page, -1);
      break;
    case Key::kDown:
      move(page, 1);
      break;
    case Key::kPageUp:
      move(page, -screen);
      break;
    case Key::kPageDown:
      move(page, screen);
      break;
    case Key::kHome:
      move(page, -kFar);
      break;
    case Key::kEnd:
      move(page, kFar);
      break;
    case Key::kEnter:
      enter(page);
      break;
    case Key::kBack:
      inside_.clear();
      focus_ = 0;
      break;
    case Key::kNextTable:
      focus_ = page.tables.empty() ? 0 : (focus(page) + 1) % page.tables.size();
      break;
    case Key::kNextColumn:
    case Key::kPreviousColumn:
      if (!page.tables.empty())
        sort_by_next(page.tables[focus(page)], key == Key::kNextColumn ? 1 : -1);
      break;
    case Key::kReverse:
      if (!page.tables.empty()) {
        TableView& view = tables_[page.tables[focus(page)].title];
        view.reversed = !view.reversed;
      }
      break;
    case Key::kPause:
      paused_ = !paused_;
      break;
    case Key::kHelp:
      helps_ = true;
      break;
    case Key::kRedraw:
    case Key::kOther:
      break;
    case Key::kQuit:
      return Next::kQuit;
  }
  return Next::kGoOn;
}

}  // namespace fathom::cli::top
