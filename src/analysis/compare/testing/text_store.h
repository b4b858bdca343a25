// SPDX-License-Identifier: MIT
// Recordings written as text, opened: for tests of comparisons and budgets.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/import/text_recording.h"
#include "analysis/store.h"
#include "base/table.h"
#include "base/text.h"

namespace fathom::analysis::testing {

class TextStores : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "fathom_text_stores_" + std::to_string(getpid());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // The directory of a new recording of these lines.
  std::string record(const std::string& lines, std::string name = "") {
    if (name.empty()) name = std::to_string(++made_);
    std::string path = root_ + "/" + name;
    const std::string text = std::string(kTextRecordingMark) + "\n" + lines;
    const Result<std::int64_t> rows = write_text_recording(text, path);
    EXPECT_TRUE(rows) << rows.error().message;
    return path;
  }

  static Store open(const std::string& path) {
    Result<Store> store =
        Store::open(path, {.resolver = {}, .need = trace::Need::kEvents, .threads = 1});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }

  std::string root_;
  int made_ = 0;
};

// Rows as lines of "a|b|c", NULL as "-".
inline std::string cell_text(const Value& cell) {
  if (cell.is_null()) return "-";
  if (const auto* number = std::get_if<std::int64_t>(&cell.data)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&cell.data)) return *text;
  const auto* real = std::get_if<double>(&cell.data);
  if (real == nullptr) return "?";
  std::string text = std::to_string(*real);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

inline std::string lines_of(const Table& table) {
  std::vector<std::string> cells;
  for (const Column& column : table.columns) cells.push_back(column.name);
  std::string text = join(cells, "|");
  for (const auto& row : table.rows) {
    cells.clear();
    for (const Value& cell : row) cells.push_back(cell_text(cell));
    text += "\n" + join(cells, "|");
  }
  return text;
}

}  // namespace fathom::analysis::testing
