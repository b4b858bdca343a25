// SPDX-License-Identifier: MIT
// What exporters read: the rows of a recording, as plain structs that come one by one. Whoever
// opened the recording implements EventStream; exporters know neither files nor SQL.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fathom::render {

using ExportNumber = std::optional<std::int64_t>;
using ExportArg = std::pair<std::string_view, std::string_view>;

// The columns of view `events`. Views are valid during the call that brings them; "" is NULL.
struct ExportEvent {
  std::int64_t ts = 0;
  std::int64_t dur = 0;
  std::string_view host;
  ExportNumber pid, tid, depth, fd, offset, size, bytes, ret;
  std::string_view layer, name, entry, category, file, error;
  std::span<const ExportArg> args;
};

struct ExportCounter {
  std::int64_t ts = 0;
  std::string_view host;
  ExportNumber pid, tid;
  std::string_view layer, name, unit;
  double value = 0;
};

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
};

}  // namespace fathom::render
