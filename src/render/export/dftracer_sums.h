// SPDX-License-Identifier: MIT
// Lines of DFTracer's aggregation (DFTRACER_ENABLE_AGGREGATION, generation 2): one for all events
// of a name, category and thread that began in one interval.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace fathom::render {

struct DftracerSumKey {
  std::int64_t ts = 0;  // where the interval begins, in the unit of the file
  std::int64_t tid = 0;
  int type = 0;
  std::string name;
  std::string category;
  // NOLINTNEXTLINE(modernize-use-nullptr): sees a 0 in what the compiler makes here
  auto operator<=>(const DftracerSumKey&) const = default;
};

// One line that is being added up: its events, and least, most and sum of each number among their
// arguments.
class DftracerSum {
 public:
  void add_event(std::int64_t duration);
  void add(std::string_view key, double value);
  // The arguments of a line, behind that of the host.
  void write(std::string& text) const;

 private:
  struct Numbers {
    std::int64_t count = 0;
    double least = 0;
    double most = 0;
    double sum = 0;
  };
  std::int64_t events_ = 0;
  std::map<std::string, Numbers, std::less<>> numbers_;
};

struct DftracerOrigin {
  std::int64_t pid = 0;
  std::string_view host_hash;
};

// Lines of one process, by their keys. Whoever has it decides when it is large enough to be
// written. One thread.
class DftracerSums {
 public:
  DftracerSum& at(const DftracerSumKey& key) { return sums_[key]; }
  [[nodiscard]] std::size_t size() const { return sums_.size(); }
  // All of them, which begin anew: an interval that goes on has another line then.
  void write(std::string& text, const DftracerOrigin& origin);

 private:
  std::map<DftracerSumKey, DftracerSum> sums_;
};

}  // namespace fathom::render
