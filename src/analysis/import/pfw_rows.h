// SPDX-License-Identifier: MIT
// Lines of `.pfw` files into rows of a recording: the second pass, in the same order as the first
// (pfw_facts.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/call_names.h"
#include "analysis/import/pfw_facts.h"
#include "analysis/import/pfw_line.h"
#include "trace/rows/batch.h"

namespace fathom::analysis {

struct PfwBatches {
  trace::EventBatch events;
  trace::CounterBatch counters;
  trace::IntervalBatch intervals;
};

// One thread at a time. Nothing fails: what a line lacks is NULL in its row.
class PfwRows {
 public:
  // Both must outlive this; `facts` is finished.
  PfwRows(PfwFacts& facts, trace::Strings& strings);

  // Appends the rows of a line that the first pass took.
  void add(const PfwLine& line, PfwUnit unit, PfwBatches& out);

  [[nodiscard]] std::vector<trace::ProcessRow> processes() const;
  [[nodiscard]] std::vector<trace::ThreadRow> threads() const;

  // Rows whose file no line names.
  [[nodiscard]] std::int64_t unknown_files() const { return unknown_files_; }

 private:
  // What all rows of a line have in common.
  struct Origin {
    std::int64_t ts;
    std::int32_t pid;
    std::int32_t tid;
    std::uint32_t host;
  };
  struct Call;

  [[nodiscard]] Origin origin_of(const PfwLine& line, std::int64_t ts);
  void add_event(const PfwLine& line, const PfwTimes& times, trace::EventBatch& out);
  void add_counters(const PfwLine& line, const PfwTimes& times, trace::CounterBatch& out);
  void add_interval(const PfwLine& line, const PfwTimes& times, PfwUnit unit,
                    trace::IntervalBatch& out);
  bool take(const PfwArg& arg, Call& call);
  bool take_call_field(const PfwArg& arg, Call& call);
  void finish_call(const Call& call, trace::EventRow& row) const;
  std::uint32_t file_of(const PfwArg& arg, bool& known);

  PfwFacts* facts_;
  trace::Strings* strings_;
  std::string_view main_host_;
  std::int64_t unknown_files_ = 0;
};

}  // namespace fathom::analysis
