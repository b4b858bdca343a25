// SPDX-License-Identifier: MIT
// What exporters read: the rows of a recording, as plain structs that come one by one. Whoever
// opened the recording implements EventStream; exporters know neither files nor SQL.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/layers.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::render {

using ExportNumber = std::optional<std::int64_t>;
using ExportArg = std::pair<std::string_view, std::string_view>;

// The columns of view `events`. Views are valid during the call that brings them; "" is NULL.
struct ExportEvent {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::string_view host;
  ExportNumber pid, tid, rank, depth, fd, offset, size, bytes, ret, device, stream, correlation;
  std::string_view layer, name, entry, category, file, error;
  std::string_view program;  // where the process is called by one that it became later
  std::span<const ExportArg> args;
};

// What a GPU does belongs to no thread, but to a stream of a device.
[[nodiscard]] inline bool is_on_device(const ExportEvent& event) {
  return analysis::is_device(event.layer) && !event.tid && event.device;
}
[[nodiscard]] inline std::string device_name(const ExportEvent& event) {
  std::string name = "GPU " + std::to_string(event.device.value_or(0));
  if (event.stream) name += ", stream " + std::to_string(*event.stream);
  return name;
}

// Events with one correlation in one process belong together: an arrow joins them.
[[nodiscard]] inline std::uint64_t flow_of(const ExportEvent& event) {
  std::uint64_t id = std::hash<std::string_view>()(event.host);
  for (const ExportNumber* part : {&event.pid, &event.correlation})
    id = (id ^ static_cast<std::uint64_t>(part->value_or(-1))) * 0x9e3779b97f4a7c15;
  return id == 0 ? 1 : id;
}
// The columns that viewers of time lines show beside a name and times.
[[nodiscard]] inline std::array<std::pair<std::string_view, ExportNumber>, 8> numbers_of(
    const ExportEvent& event) {
  return {{{"fd", event.fd},
           {"offset", event.offset},
           {"size", event.size},
           {"bytes", event.bytes},
           {"ret", event.ret},
           {"device", event.device},
           {"stream", event.stream},
           {"correlation", event.correlation}}};
}
// Whether one of them, or a text, bears this name and has a value: an argument of the program's own
// under it has to be told apart.
[[nodiscard]] inline bool is_column(const ExportEvent& event, std::string_view name) {
  if (name == "file") return !event.file.empty();
  if (name == "error") return !event.error.empty();
  if (name == "program") return !event.program.empty();
  return std::ranges::any_of(numbers_of(event), [&](const auto& column) {
    return column.first == name && column.second.has_value();
  });
}

struct ExportCounter {
  std::int64_t ts = 0;
  std::string_view host;
  ExportNumber pid, tid;
  std::string_view layer, name, unit;
  double value = 0;
};

// Calls counted over a stretch of time.
struct ExportInterval {
  std::int64_t ts = 0;
  std::int64_t width = 0;
  std::string_view host;
  ExportNumber pid, tid;
  std::string_view layer, name, file;
  std::string_view category;  // of rows that stand for themselves
  std::int64_t calls = 0;
  std::int64_t errors = 0;
  std::int64_t dur = 0;
  ExportNumber dur_min, dur_max, bytes;
};

struct ExportFrame {
  std::string_view function, module, file;
  ExportNumber line;
};

// A call stack that somebody took.
struct ExportSample {
  std::int64_t ts = 0;
  std::string_view host;
  ExportNumber pid, tid, cpu;
  std::string_view event;
  std::string_view program;  // as of an event
  std::int64_t weight = 0;
  std::span<const ExportFrame> frames;  // outermost first
};

// A process under the last program that it was.
struct ExportProcess {
  std::string_view host;
  std::int64_t pid = 0;
  ExportNumber ppid, rank;
  std::string_view name, command;
};

struct ExportThread {
  std::string_view host;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
};

enum class EventOrder : std::uint8_t {
  kAny,
  kByThread,  // by host, pid, tid; within a thread by begin, outer events before inner ones
};

enum class IntervalDetail : std::uint8_t {
  kAll,     // as recorded
  kByName,  // summed over threads and files; by host, pid, layer, name, ts
};

// One thread at a time; one of these calls after the other. An Error from the callee ends the call
// and is returned.
class EventStream {
 public:
  virtual ~EventStream() = default;

  // ns since 1970 at which ts is 0.
  [[nodiscard]] virtual std::int64_t start_realtime_ns() const = 0;
  virtual Status processes(const std::function<Status(const ExportProcess&)>& use) = 0;
  virtual Status threads(const std::function<Status(const ExportThread&)>& use) = 0;
  virtual Status events(EventOrder order, const std::function<Status(const ExportEvent&)>& use) = 0;
  virtual Status counters(const std::function<Status(const ExportCounter&)>& use) = 0;
  virtual Status intervals(IntervalDetail detail,
                           const std::function<Status(const ExportInterval&)>& use) = 0;
  // By host, pid, tid, event, ts.
  virtual Status samples(const std::function<Status(const ExportSample&)>& use) = 0;

  // Where samples() has none: what to tell a user about that; "" if nothing is known.
  virtual std::string why_not_sampled() { return ""; }

  // The rows as they are, with all columns: what formats of tables write. Called at least once.
  virtual Status table(const std::function<Status(const Table&)>& use) = 0;
  // The same into a Parquet file. Only the recording's own engine can write one.
  virtual Status write_parquet(const std::string& path) = 0;
};

}  // namespace fathom::render
