// SPDX-License-Identifier: MIT
#include "sources/list.h"

#include <gtest/gtest.h>

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

TEST(Layers, StandTopDown) {
  std::string names;
  for (const LayerDef& layer : layers()) names += std::string(layer.name) + " ";
  EXPECT_EQ(names,
            "app python stdio posix heap user syscall sched vfs fs pagecache kernel block net cuda "
            "gpu cpu "
            "resource ");
}

}  // namespace
}  // namespace fathom::sources
