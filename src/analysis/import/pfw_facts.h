// SPDX-License-Identifier: MIT
// What all files of a run say together, gathered before the first row is made: names behind hashes
// (they may be defined after their use, or in another process's file), processes and threads, the
// first time, depths. See pfw_rows.h for the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/import/nesting.h"
#include "analysis/import/pfw_line.h"

namespace fathom::analysis {

// DFTracer's unit of time is the microsecond unless its file says otherwise (`time_metric`).
struct PfwUnit {
  std::int64_t ns = 1000;

  // Looks for the unit in a line of metadata.
  void learn(const PfwLine& line);
};

struct PfwTimes {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
};

// In ns; nothing where the line is no sound event: no name, no time, a pid that no system has. Both
// passes over the files ask this, so that they agree on what counts.
[[nodiscard]] std::optional<PfwTimes> times_of(const PfwLine& line, PfwUnit unit);

// Decimal text times a factor, without the detour over floating point.
[[nodiscard]] std::optional<std::int64_t> scaled(std::string_view text, std::int64_t factor);

// From the first to the last time of anything that was seen; not known() before there was anything.
struct PfwSpan {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();

  void widen(std::int64_t from, std::int64_t to);
  [[nodiscard]] bool known() const { return start <= end; }
};

struct PfwThread {
  std::string name;
  PfwSpan span;
  Nesting nesting;
};

struct PfwProcess {
  std::string name;
  std::string command;
  bool command_by_start = false;  // then DFTracer's `;` stands between the arguments
  std::optional<std::int64_t> ppid;
  std::optional<std::int64_t> rank;
  PfwSpan span;
  std::vector<std::pair<std::string, std::string>> meta;
  std::map<std::int64_t, PfwThread> threads;
};

// The host as the line names it (a hash or a name), and the pid. -1 stands for a pid or tid that is
// missing.
using PfwProcessKey = std::pair<std::string, std::int64_t>;

// Lets a table of strings be asked with a view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// First every line goes through add(), then finish(), then rows are made: the second pass asks
// process() and thread() for each line in the same order, since depths come out in the order in
// which they went in. One thread at a time.
class PfwFacts {
 public:
  // The first pass: every line of every file. False: the line is damaged.
  bool add(const PfwLine& line, PfwUnit unit);
  // The first pass is over: resolves names, computes depths.
  void finish();

  // After finish().
  [[nodiscard]] const std::string* file_name(std::string_view hash) const;
  // A text that stands behind a hash; the text itself when there is none.
  [[nodiscard]] std::string_view text_of(std::string_view hash) const;
  [[nodiscard]] std::string_view host_name(std::string_view given) const;
  PfwProcess& process(std::string_view host, std::int64_t pid);
  PfwThread& thread(const PfwLine& line);

  std::map<PfwProcessKey, PfwProcess> processes;
  PfwSpan span;
  std::string main_host;  // as the first event gave it
  std::int64_t interval_ns = 0;
  std::int64_t rows = 0;  // sound lines that become rows

 private:
  void add_metadata(const PfwLine& line);
  void add_process_fact(const PfwLine& line, std::string_view name, std::string_view value);
  void add_start(const PfwLine& line);
  void add_interval(std::int64_t ts);

  using Texts = std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>;
  Texts names_;
  Texts hosts_;
  std::optional<std::int64_t> last_interval_;
  // The thread of the line before: nearly always that of this one too.
  PfwProcessKey last_key_{"", std::numeric_limits<std::int64_t>::min()};
  PfwProcess* last_process_ = nullptr;
};

// The host that a line names, as it names it; "" where it does not.
[[nodiscard]] std::string_view host_of(const PfwLine& line);

// Whether the line counts calls of an interval; otherwise a counter line holds plain values.
[[nodiscard]] bool is_interval(const PfwLine& line);

// The layer of an event: POSIX and STDIO are ours; files that we exported say the layer themselves;
// all else is the app's.
[[nodiscard]] std::string_view event_layer(const PfwLine& line);

}  // namespace fathom::analysis
