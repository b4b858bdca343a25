// SPDX-License-Identifier: MIT
// Chrome traces into rows: first facts about all of the files (times, threads, names), then rows in
// the same order.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/chrome_event.h"
#include "analysis/import/chrome_spans.h"
#include "analysis/import/nesting.h"
#include "trace/rows/batch.h"
#include "trace/rows/strings.h"

namespace fathom::analysis {

// The first pass: every event of every file goes in, then finish(). One thread at a time.
class ChromeFacts {
 public:
  void add(const ChromeSpan& span);
  void add_counter(const ChromeEvent& event);
  void add_name(const ChromeEvent& event);  // of phase M
  // All is in: computes depths.
  void finish();

  [[nodiscard]] bool empty() const { return rows_ == 0; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t start() const { return start_; }
  [[nodiscard]] std::int64_t end() const { return end_; }
  // Of the thread's next span; NULL where it nests with nothing.
  std::int32_t next_depth(const ChromeSpan& span);
  [[nodiscard]] std::vector<trace::ProcessRow> processes() const;
  [[nodiscard]] std::vector<trace::ThreadRow> threads() const;

 private:
  struct Life {
    std::string name;
    std::int64_t start = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
  };
  void widen(std::int64_t pid, std::int64_t tid, std::int64_t from, std::int64_t to);
  template <class Row>
  void set_life(const Life& life, Row& row) const;

  std::int64_t rows_ = 0;
  std::int64_t start_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
  std::map<std::int64_t, Life> processes_;
  std::map<std::pair<std::int64_t, std::int64_t>, Life> threads_;
  std::set<std::pair<std::int64_t, std::int64_t>> streams_;  // that stand among the threads
  std::map<std::pair<std::string, std::string>, Nesting> nestings_;
};

// The second pass, over the same events in the same order: depths are taken out of `facts` one by
// one. One thread at a time.
class ChromeRows {
 public:
  // Both must outlive this; `facts` is finished.
  ChromeRows(ChromeFacts& facts, trace::Strings& strings) : facts_(&facts), strings_(&strings) {}

  void add(const ChromeSpan& span, trace::EventBatch& out);
  void add_counter(const ChromeEvent& event, trace::CounterBatch& out);

 private:
  bool take(const std::string& key, const std::string& text, trace::EventRow& row);

  ChromeFacts* facts_;
  trace::Strings* strings_;
};

}  // namespace fathom::analysis
