// SPDX-License-Identifier: MIT
// Placeholders with the right columns that raise an error when they are read, so that a view can be
// bound before its pass has run.
#include "analysis/walk/made_tables.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr MadeTable kMadeTables[] = {kTreeNodes,     kPhaseTimes,   kOverlapTimes, kTrainingTasks,
                                     kTrainingSteps, kGpuIdleTimes, kLayerWalls};

std::string columns_sql(std::string_view names, const char* type) {
  std::string text;
  for (const std::string_view name : split(names, ',')) {
    if (!name.empty())
      text += "CAST(NULL AS " + std::string(type) + ") AS \"" + std::string(name) + "\", ";
  }
  return text;
}

}  // namespace

bool is_made_table(std::string_view name) {
  return std::ranges::any_of(kMadeTables,
                             [&](const MadeTable& table) { return table.name == name; });
}

Status create_unmade_tables(sql::Connection& connection) {
  for (const MadeTable& table : kMadeTables) {
    FATHOM_TRY(connection.execute(
        "CREATE OR REPLACE VIEW " + std::string(table.name) + " AS SELECT " +
        columns_sql(table.texts, "VARCHAR") + columns_sql(table.numbers, "BIGINT") +
        columns_sql(table.reals, "DOUBLE") + "FROM range(1) WHERE error('name the view itself: " +
        table.name + " is made when it is asked for') IS NOT NULL"));
  }
  return {};
}

}  // namespace fathom::analysis
