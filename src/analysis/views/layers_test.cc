// SPDX-License-Identifier: MIT
// What the tables with shares by layer say below them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/compare/testing/text_store.h"
#include "analysis/views/functions.h"
#include "analysis/views/tables.h"

namespace fathom::analysis {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRun[] =
    "run host=here start=1700000000000000000 duration=1000\n"
    "process 10 name=work start=0 end=1000 exit=0\n"
    "thread 10/10 start=0 end=1000\n"
    "event 10/10 10 +900 posix read category=read\n"
    "event 10/10 920 +5 app step\n";

class LayersView : public testing::TextStores {};

// 90 % of posix and 88 % of syscall are the same time.
TEST_F(LayersView, SaysWhereTheKernelsLayersOverlapWithTheOthers) {
  Store store =
      open(record(std::string(kRun) + "event 10/10 12 +880 syscall read category=read\n"));
  const std::string words =
      "layers of the kernel (syscall) measure the same calls again, so shares can add up to more "
      "than 100 %";
  const Result<Table> layers = layer_time_table(store);
  ASSERT_TRUE(layers) << layers.error().message;
  EXPECT_THAT(layers->note, EndsWith("the lifetime of 1 thread; " + words));
  const Result<Table> functions = functions_table(store, {"name", "layer"}, 0);
  ASSERT_TRUE(functions) << functions.error().message;
  EXPECT_EQ(functions->note, words);
}

TEST_F(LayersView, LayersInsideTheProgramAddUp) {
  Store store = open(record(kRun));
  const Result<Table> layers = layer_time_table(store);
  ASSERT_TRUE(layers) << layers.error().message;
  EXPECT_THAT(layers->note, Not(HasSubstr("kernel")));
}

}  // namespace
}  // namespace fathom::analysis
