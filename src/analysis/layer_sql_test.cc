// SPDX-License-Identifier: MIT
#include "analysis/layer_sql.h"

#include <gtest/gtest.h>

namespace fathom::analysis {
namespace {

TEST(LayerSql, WordsBecomeLists) {
  EXPECT_EQ(layer_sql("layer IN @io OR layer IN @code"),
            "layer IN ('stdio', 'posix') OR layer IN ('app', 'python')");
  EXPECT_EQ(layer_sql("@own"), "('app', 'python', 'stdio', 'posix')");
  EXPECT_EQ(layer_sql("@kernel"),
            "('syscall', 'sched', 'vfs', 'fs', 'pagecache', 'kernel', 'block', 'net')");
  EXPECT_EQ(layer_sql("layer NOT IN @beside"), "layer NOT IN ('sched', 'block', 'net', 'gpu')");
  EXPECT_EQ(layer_sql("layer IN @device"), "layer IN ('gpu')");
  EXPECT_EQ(layer_sql("@undevice"), "coalesce(layer NOT IN ('gpu'), true)");
  const std::string in_calls = layer_sql("@in_calls");
  EXPECT_TRUE(in_calls.starts_with(
      "coalesce(greatest(sum(self) FILTER (coalesce(layer NOT IN ('heap', 'user', 'syscall', "
      "'sched', 'vfs', 'fs', 'pagecache', 'block', 'net', 'gpu'), true)), sum(self) FILTER "
      "(layer = 'heap')), sum(self) FILTER (layer = 'syscall'), "))
      << in_calls;
  EXPECT_EQ(layer_sql("@outermost"), "coalesce(" + in_calls + ", sum(self))");
  EXPECT_EQ(layer_sql("name = 'read'"), "name = 'read'");
}

TEST(LayerSql, OtherWordsStay) {
  for (const char* text : {"file = 'me@io'", "@iota", "@io_2", "@ io"})
    EXPECT_EQ(layer_sql(text), text);
  EXPECT_EQ(layer_sql("(@io)"), "(('stdio', 'posix'))");
}

TEST(Layers, UnknownOnesAreOfThreadsAndNothingElse) {
  EXPECT_TRUE(trace::is_in_threads("of another version"));
  EXPECT_FALSE(trace::is_io("of another version"));
  EXPECT_FALSE(trace::is_device(""));
}

}  // namespace
}  // namespace fathom::analysis
