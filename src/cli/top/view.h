// SPDX-License-Identifier: MIT
// What the user chose to see: which page, how its tables are sorted, which row is marked. Keys
// change it; arrange() brings a page into that order.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "cli/top/keys.h"
#include "cli/top/page.h"

namespace fathom::cli::top {

// Of one table, by its title: pages come and go, the choice stays.
struct TableView {
  std::string column;  // it is sorted by; "": as it came
  bool reversed = false;
  std::size_t marked = 0;  // row
  std::string marked_id;   // of the first table: the mark stays with what it marks
};

// Knows no terminal and no recording: keys and pages come as values, so that tests press keys. One
// thread.
class View {
 public:
  enum class Next { kGoOn, kQuit };
  // `page` is what is shown, arranged. `visible` rows are on the screen.
  Next press(Key key, const Page& page, std::size_t visible);

  // Sorts the tables and finds the marked row again.
  void arrange(Page& page);

  [[nodiscard]] const std::string& inside() const { return inside_; }  // "": all
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] bool helps() const { return helps_; }
  // The table that keys are for.
  [[nodiscard]] std::size_t focus(const Page& page) const;
  [[nodiscard]] const TableView& of(const Table& table);

 private:
  void move(const Page& page, std::ptrdiff_t by);
  void sort_by_next(const Table& table, std::ptrdiff_t by);
  void enter(const Page& page);

  std::string inside_;
  bool paused_ = false;
  bool helps_ = false;
  std::size_t focus_ = 0;
  std::map<std::string, TableView> tables_;
};

}  // namespace fathom::cli::top
