// SPDX-License-Identifier: MIT
// More rows than memory holds, in order: sorted runs go to a file that nobody else sees, and are
// merged when they are taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/walk/run_file.h"
#include "base/result.h"

namespace fathom::analysis {

// Rows are plain bytes with an operator<. One thread at a time. A failure to write is kept until
// they are taken: take() returns it, and then no row comes.
template <class Row>
class SortedRuns {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  explicit SortedRuns(std::size_t rows_in_memory = std::size_t{1} << 21U) : most_(rows_in_memory) {}

  void add(const Row& row) {
    if (rows_.size() == most_) flush();
    rows_.push_back(row);
  }

  // All rows in order, once.
  template <class Use>
  Status take(Use use) {
    FATHOM_TRY(std::move(failure_));
    std::sort(rows_.begin(), rows_.end());
    if (runs_.empty()) {
      for (const Row& row : rows_) use(row);
      return {};
    }
    flush();
    FATHOM_TRY(std::move(failure_));
    std::vector<Row>().swap(rows_);
    return merge(use);
  }
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    std::uint64_t next;  // byte in the file
    std::uint64_t end;
    std::vector<Row> rows = {};
    std::size_t at = 0;
  };
  static constexpr std::size_t kRowsOfRun = 8192;

  void flush() {
    std::sort(rows_.begin(), rows_.end());
    const auto bytes = std::as_bytes(std::span(rows_));
    const std::uint64_t begin = file_.size();
    if (failure_) failure_ = file_.append(bytes);
    runs_.push_back({begin, begin + bytes.size()});
    rows_.clear();
  }

  Status refill(Run& run) {
    run.at = 0;
    run.rows.resize(std::min<std::size_t>(kRowsOfRun, (run.end - run.next) / sizeof(Row)));
    FATHOM_TRY(file_.read(run.next, std::as_writable_bytes(std::span(run.rows))));
    run.next += run.rows.size() * sizeof(Row);
    return {};
  }

  template <class Use>
  Status merge(Use use) {
    const auto later = [this](std::size_t a, std::size_t b) {
      return runs_[b].rows[runs_[b].at] < runs_[a].rows[runs_[a].at];
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> first(later);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      FATHOM_TRY(refill(runs_[i]));
      if (!runs_[i].rows.empty()) first.push(i);
    }
    while (!first.empty()) {
      const std::size_t i = first.top();
      Run& run = runs_[i];
      first.pop();
      // As long as nobody else's comes first.
      const Row* bound = first.empty() ? nullptr : &runs_[first.top()].rows[runs_[first.top()].at];
      do {
        use(run.rows[run.at++]);
        if (run.at == run.rows.size()) FATHOM_TRY(refill(run));
      } while (run.at < run.rows.size() && (bound == nullptr || !(*bound < run.rows[run.at])));
      if (run.at < run.rows.size()) first.push(i);
    }
    return {};
  }

  std::size_t most_;
  std::vector<Row> rows_;
  std::vector<Run> runs_;
  RunFile file_;
  Status failure_;
};

}  // namespace fathom::analysis
