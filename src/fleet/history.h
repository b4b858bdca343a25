// SPDX-License-Identifier: MIT
// What the records of a job say over time: series of measurements for each benchmark, metric and
// kind of machine, what two jobs differ in, and when a job's benchmarks changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "fleet/store.h"
#include "render/render.h"

namespace fathom::fleet {

// One metric of one benchmark on one kind of machine.
struct MetricHistory {
  std::string metric;
  // Of each record that has it, in order: which one, and the values of its runs.
  struct Point {
    std::int64_t record = 0;
    std::vector<double> values;
  };
  std::vector<Point> points;
};

struct BenchmarkHistory {
  std::string benchmark;  // the command, as a shell reads it
  std::string machine;    // its facts as JSON: machines with the same facts are of one class
  std::string host;       // of the first record
  std::vector<MetricHistory> metrics;
};

struct RecordFacts {
  std::int64_t record = 0;
  std::string revision;
  std::string time;
};

struct History {
  std::vector<BenchmarkHistory> benchmarks;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by benchmark and machine
  std::vector<RecordFacts> records;                                   // that were read, in order
  // Left out: records that are no such thing, runs whose program failed, and values beyond limits.
  std::int64_t damaged = 0;
  std::int64_t failed_runs = 0;
  std::int64_t beyond_limits = 0;
};

// Of records of this kind; those of another than benchmarks may lack `runs`: then their own numbers
// are the values of one run. A record that cannot be understood is counted and left out.
Result<History> read_history(JobStore& store, const std::string& job, std::string_view kind);
// Adds one record; counts it where it is damaged.
void add_record(std::int64_t record, const std::string& json, History& history);

// An answer to be printed.
struct HistoryAnswer {
  Value object;                    // for programs: what --format json prints
  std::vector<Table> tables;       // for people
  std::vector<std::string> notes;  // what was left out and why nothing can be said, as sentences
  bool found = false;              // something is slower; there is an alert: exit status 1
};
// "comparison": the second job's runs by those of the first. kInvalid where they have nothing in
// common, or one of them has no runs.
Result<HistoryAnswer> compare_jobs(JobStore& store, const std::string& before,
                                   const std::string& after, std::string_view kind = kBenchmarks);
// "alerts": what changed, and from which record on. kInvalid where the job has no run.
Result<HistoryAnswer> trend_of(JobStore& store, const std::string& job,
                               std::string_view kind = kBenchmarks);

// JSON: the object; else the tables. Notes are not part of it.
std::string answer_text(const HistoryAnswer& answer, render::Format format,
                        const render::Style& style);

}  // namespace fathom::fleet
