// SPDX-License-Identifier: MIT
// What tests of importers share: a directory of their own, files in it, and questions to the
// recording that was made of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/store.h"
#include "base/files.h"

namespace fathom::analysis::testing {

class ImportBox : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fathom-import-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { (void)remove_tree(root_).has_value(); }

  [[nodiscard]] std::string trace() const { return join_path(root_, "trace"); }
  std::string file(const std::string& name, std::string_view content) const {
    std::string path = join_path(root_, name);
    EXPECT_TRUE(write_file_atomic(path, content).has_value());
    return path;
  }
  Result<ImportOutcome> import_into_trace(const std::vector<std::string>& files,
                                          bool replace = true, const std::string& format = "") {
    return import_files(files, trace(), {.replace = replace, .on_progress = {}, .format = format});
  }

  // The first cell of the answer that a user would get.
  std::int64_t number(const std::string& sql) {
    Result<Store> store = Store::open(trace());
    EXPECT_TRUE(store.has_value()) << (store ? "" : store.error().message);
    if (!store) return -1;
    const Result<Table> rows = store->query_untrusted(sql);
    EXPECT_TRUE(rows.has_value()) << (rows ? "" : rows.error().message);
    return rows ? std::get<std::int64_t>(rows->rows.at(0).at(0).data) : -1;
  }
  void expect_count(const std::string& from, std::int64_t wanted) {
    EXPECT_EQ(number("SELECT CAST(count(*) AS BIGINT) FROM " + from), wanted) << from;
  }
  // Exactly one row of each view for which the condition holds.
  void expect_one(const std::vector<std::pair<const char*, const char*>>& cases) {
    for (const auto& [view, where] : cases) expect_count(std::string(view) + " WHERE " + where, 1);
  }

  std::string root_;
};

}  // namespace fathom::analysis::testing
