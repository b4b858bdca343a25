// SPDX-License-Identifier: MIT
#include "sources/list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "wire/sources.h"

namespace fathom::sources {
namespace {

struct Row {
  std::string_view layer;
  unsigned needs;
};
constexpr Row kRows[] = {{"", 0},
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, ...) \
  {layer, FATHOM_SOURCE_##needs},
                         FATHOM_SOURCE_ROWS(ROW)
#undef ROW
};

// The table and the host half of a source say the same of it.
TEST(Sources, HaveTheLayersOfTheirRows) {
  for (const Row& row : std::span(kRows).subspan(1)) {
    const SourceDef* source = source_of(row.layer);
    ASSERT_NE(source, nullptr) << row.layer;
    EXPECT_TRUE(source->in_process) << row.layer;
    EXPECT_EQ(source->needs, kRows[row.needs].layer) << row.layer;
  }
}

TEST(Layers, StandTopDownEachOnce) {
  std::set<std::string_view> names;
  int above = 0;
  for (const LayerDef& layer : layers()) {
    EXPECT_GT(layer.rank, above) << layer.name;
    above = layer.rank;
    EXPECT_TRUE(names.insert(layer.name).second) << layer.name;
    EXPECT_FALSE(layer.what.empty()) << layer.name;
    EXPECT_EQ(layer.light.empty(), layer.dark.empty()) << layer.name;
  }
}

// A few that every order has to have, and one of each kind.
TEST(Layers, AreWhatTheyAre) {
  const auto rank = [](std::string_view name) { return find_layer(name)->rank; };
  EXPECT_LT(rank("app"), rank("stdio"));
  EXPECT_LT(rank("stdio"), rank("posix"));
  EXPECT_LT(rank("posix"), rank("syscall"));
  EXPECT_LT(rank("syscall"), rank("block"));
  EXPECT_LT(rank("cuda"), rank("gpu"));
  EXPECT_TRUE(find_layer("app")->code);
  EXPECT_TRUE(find_layer("posix")->io);
  EXPECT_TRUE(find_layer("posix")->by_default);
  EXPECT_TRUE(find_layer("vfs")->kernel);
  EXPECT_TRUE(find_layer("gpu")->device);
  EXPECT_FALSE(find_layer("gpu")->in_threads);
  EXPECT_TRUE(find_layer("sched")->innermost);
  EXPECT_TRUE(find_layer("block")->sums);
  EXPECT_EQ(find_layer("sound"), nullptr);
}

// A layer has one source, and what a source records is a layer.
TEST(Layers, HaveOneSourceEach) {
  std::vector<std::string_view> recorded;
  for (const SourceDef* source : sources())
    recorded.insert(recorded.end(), source->layers.begin(), source->layers.end());
  for (const std::string_view layer : recorded) EXPECT_NE(find_layer(layer), nullptr) << layer;
  for (const LayerDef& layer : layers())
    EXPECT_EQ(std::ranges::count(recorded, layer.name), 1) << layer.name;
}

}  // namespace
}  // namespace fathom::sources
