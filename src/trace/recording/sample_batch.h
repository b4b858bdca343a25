// SPDX-License-Identifier: MIT
// Rows of `samples` and `frames`: call stacks that somebody took. A stack is named by a number made
// of its content, so that equal stacks of several recordings bear one name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "trace/rows/batch.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

inline constexpr char kSamplesTable[] = "samples";
inline constexpr char kFramesTable[] = "frames";

struct SampleRow {
  std::int64_t ts = 0;
  std::int32_t pid = kNull32;
  std::int32_t tid = kNull32;
  std::int32_t cpu = kNull32;
  std::uint32_t event = kNoString;
  std::uint32_t host = kNoString;  // kNoString: the manifest's
  std::int64_t weight = 0;
  std::int64_t stack = kNull;
};

struct SampleBatch {
  std::vector<SampleRow> rows;
  void sort();  // by (pid, tid, ts)
};

// One function of a stack.
struct Frame {
  std::uint32_t function = kNoString;
  std::uint32_t module = kNoString;
  std::uint32_t file = kNoString;
  std::int32_t line = kNull32;
};

// One thread at a time. Every stack once, with its frames. `frames.depth` 0 is the outermost
// function.
class StackTable {
 public:
  // `frames` outermost first; kNull where there are none.
  std::int64_t stack(std::span<const Frame> frames, const Strings& strings);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  friend Status write_frames(const std::string& path, const StackTable& stacks,
                             const Strings& strings);
  struct Row {
    std::int64_t stack;
    std::int32_t depth;
    Frame frame;
  };
  std::unordered_set<std::int64_t> known_;
  std::vector<Row> rows_;
};

// Parquet files with the columns of the contract. On failure there is no file of that name.
Status write_samples(const std::string& path, const SampleBatch& samples, const Strings& strings,
                     const std::string& host);
Status write_frames(const std::string& path, const StackTable& stacks, const Strings& strings);

}  // namespace fathom::trace
