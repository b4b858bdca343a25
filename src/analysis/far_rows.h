// SPDX-License-Identifier: MIT
// Recordings whose rows lie on another machine. Their Parquet files have their size and their ends
// here, so that a store opens them as any other; rows come when a question may read their table.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::analysis {

// Who has the rows of one recording: `fleet` for one of a server, by requests over HTTP. An
// interface, since analysis knows of no network. A failure of bring() is the question's: nothing is
// answered from half of the rows.
class FarRows {
 public:
  FarRows() = default;
  FarRows(const FarRows&) = delete;
  FarRows& operator=(const FarRows&) = delete;
  virtual ~FarRows() = default;

  // Has the rows of these tables (trace/recording/parquet_tables.h) brought here. Any thread. What
  // is here already costs nothing.
  virtual Status bring(const std::set<std::string>& tables) = 0;

  // What the recording takes where it lies.
  struct Size {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] virtual Size size() const = 0;
};

// From now on, as long as it lives, whoever opens this directory, or one below it, has the rows
// brought by `far`. The path is absolute. Any thread.
void add_far_rows(const std::string& directory, const std::shared_ptr<FarRows>& far);

// Of the directory, or of one that it lies in; nullptr: its rows are here.
[[nodiscard]] std::shared_ptr<FarRows> far_rows_of(const std::string& directory);

}  // namespace fathom::analysis
