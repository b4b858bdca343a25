// SPDX-License-Identifier: MIT
#include "analysis/layer_sql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fathom::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Those of all layers that are so, top down.
std::string list_of(const std::function<bool(const trace::LayerDef&)>& belongs) {
  std::string list;
  for (const trace::LayerDef& layer : trace::kLayers) {
    if (belongs(layer)) list.append(list.empty() ? "('" : ", '").append(layer.name).append("'");
  }
  return list + ')';
}

TEST(LayerSql, WordsBecomeLists) {
  using Def = trace::LayerDef;
  EXPECT_EQ(layer_sql("layer IN @io OR layer IN @code"),
            "layer IN " + list_of(&Def::io) + " OR layer IN " + list_of(&Def::code));
  EXPECT_THAT(layer_sql("@io"), HasSubstr("'stdio', 'posix'"));
  EXPECT_EQ(layer_sql("@own"), list_of([](const Def& layer) { return layer.code || layer.io; }));
  EXPECT_EQ(layer_sql("@kernel"), list_of(&Def::kernel));
  EXPECT_EQ(layer_sql("layer NOT IN @beside"),
            "layer NOT IN " + list_of([](const Def& layer) { return !layer.in_threads; }));
  EXPECT_EQ(layer_sql("layer IN @device"), "layer IN " + list_of(&Def::device));
  EXPECT_EQ(layer_sql("@undevice"), "coalesce(layer NOT IN " + list_of(&Def::device) + ", true)");
}

TEST(LayerSql, TimeInCallsIsOfTheOutermostLayer) {
  const std::string in_calls = layer_sql("@in_calls");
  const auto sum = [](const char* layer) {
    return std::string("sum(self) FILTER (layer = '") + layer + "')";
  };
  EXPECT_THAT(in_calls, StartsWith("coalesce(greatest(sum(self) FILTER (coalesce(layer NOT IN "));
  // Each stands behind those that it lies inside of.
  std::size_t before = in_calls.find("true)), " + sum("heap") + "), ");
  for (const char* layer : {"syscall", "vfs", "fs", "pagecache", "kernel", "sched", "user"}) {
    const std::size_t at = in_calls.find(", " + sum(layer));
    ASSERT_NE(at, std::string::npos) << layer << " in " << in_calls;
    EXPECT_GT(at, before) << layer << " in " << in_calls;
    before = at;
  }
  const std::string beside = in_calls.substr(0, in_calls.find("true))"));
  for (const char* layer : {"heap", "user", "syscall", "sched", "vfs", "block", "net", "gpu"})
    EXPECT_THAT(beside, HasSubstr(std::string("'") + layer + "'"));
  for (const char* layer : {"app", "python", "stdio", "posix", "cuda"})
    EXPECT_THAT(beside, Not(HasSubstr(std::string("'") + layer + "'")));
  EXPECT_EQ(layer_sql("@outermost"), "coalesce(" + in_calls + ", sum(self))");
  EXPECT_EQ(layer_sql("name = 'read'"), "name = 'read'");
}

// A thread waits inside of all calls.
TEST(LayerSql, LayersOfTheKernelStandFromTheOutermostToTheInnermost) {
  const std::string once = once_sql("host, pid");
  EXPECT_THAT(once, HasSubstr("['syscall', 'vfs', "));
  EXPECT_THAT(once, HasSubstr(", 'sched']"));
}

TEST(LayerSql, OtherWordsStay) {
  for (const char* text : {"file = 'me@io'", "@iota", "@io_2", "@ io"})
    EXPECT_EQ(layer_sql(text), text);
  EXPECT_EQ(layer_sql("(@io)"), "(" + list_of(&trace::LayerDef::io) + ")");
}

TEST(Layers, UnknownOnesAreOfThreadsAndNothingElse) {
  EXPECT_TRUE(trace::is_in_threads("of another version"));
  EXPECT_FALSE(trace::is_io("of another version"));
  EXPECT_FALSE(trace::is_device(""));
}

}  // namespace
}  // namespace fathom::analysis
