// SPDX-License-Identifier: MIT
// Formats without intervals get them as counters. A zero behind the last interval keeps the line
// from going on for ever.
#include "render/export/interval_counters.h"

#include <string>
#include <tuple>

namespace fathom::render {
namespace {

class Tracks {
 public:
  explicit Tracks(const std::function<Status(const ExportCounter&)>& use) : use_(use) {}

  Status add(const ExportInterval& interval) {
    const Key key{std::string(interval.host), interval.pid.value_or(-1),
                  std::string(interval.layer), std::string(interval.name)};
    if (open_ && (key != key_ || interval.ts > end_)) FATHOM_TRY(close());
    key_ = key;
    has_bytes_ = interval.bytes.has_value() || (open_ && has_bytes_);
    open_ = true;
    end_ = interval.ts + interval.width;
    return tell(interval.ts, interval.calls, interval.bytes.value_or(0), interval.dur);
  }

  Status close() {
    if (!open_) return {};
    open_ = false;
    return tell(end_, 0, 0, 0);
  }

 private:
  using Key = std::tuple<std::string, std::int64_t, std::string, std::string>;

  Status tell(std::int64_t ts, std::int64_t calls, std::int64_t bytes, std::int64_t dur) {
    FATHOM_TRY(tell(ts, "calls", "calls", calls));
    if (has_bytes_) FATHOM_TRY(tell(ts, "bytes", "bytes", bytes));
    return tell(ts, "time", "ns", dur);
  }

  Status tell(std::int64_t ts, const char* what, std::string_view unit, std::int64_t value) {
    const auto& [host, pid, layer, name] = key_;
    const std::string track = name + " " + what + " [" + layer + "]";
    ExportCounter counter;
    counter.ts = ts;
    counter.host = host;
    if (pid >= 0) counter.pid = pid;
    counter.layer = layer;
    counter.name = track;
    counter.unit = unit;
    counter.value = static_cast<double>(value);
    return use_(counter);
  }

  const std::function<Status(const ExportCounter&)>& use_;
  Key key_;
  std::int64_t end_ = 0;
  bool open_ = false;
  bool has_bytes_ = false;
};

}  // namespace

Status interval_counters(EventStream& from,
                         const std::function<Status(const ExportCounter&)>& use) {
  Tracks tracks(use);
  FATHOM_TRY(from.intervals(IntervalDetail::kByName,
                            [&](const ExportInterval& interval) { return tracks.add(interval); }));
  return tracks.close();
}

}  // namespace fathom::render
