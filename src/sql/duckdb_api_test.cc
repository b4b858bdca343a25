// SPDX-License-Identifier: MIT
#include "sql/duckdb_api.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sql/database.h"

namespace fathom::sql {
namespace {

TEST(DuckdbApi, NoLibraryIsAnErrorWithAHint) {
  const std::string candidates[] = {"/nowhere/libduckdb.so"};
  const auto loaded = load_duckdb(candidates);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::kNotFound);
  EXPECT_NE(loaded.error().message.find("/nowhere/libduckdb.so"), std::string::npos);
  EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
  EXPECT_NE(loaded.error().hint.find("FATHOM_DUCKDB"), std::string::npos);
}

TEST(DuckdbApi, ABrokenLibraryIsNamedRatherThanAMissingOne) {
  const std::string broken = ::testing::TempDir() + "broken_duckdb.so";
  std::ofstream(broken) << "not a library";
  const std::string candidates[] = {broken, "/nowhere/libduckdb.so"};
  const auto loaded = load_duckdb(candidates);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find(broken), std::string::npos);
}

TEST(DuckdbApi, AnotherLibraryIsRefusedByTheFunctionItLacks) {
  const std::string candidates[] = {"libc.so.6"};
  const auto loaded = load_duckdb(candidates);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::kUnsupported);
  EXPECT_NE(loaded.error().message.find("duckdb_library_version"), std::string::npos);
}

TEST(DuckdbApi, ThePinnedVersionIsLoaded) {
  const auto version = engine_version();
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, "v1.5.5");
}

}  // namespace
}  // namespace fathom::sql
