// SPDX-License-Identifier: MIT
// What a run needs at this moment, in Prometheus' text format, over HTTP: for who looks on while
// `fathom container run` works. The container may have no network: this is served on the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.h"
#include "base/result.h"
#include "sources/source.h"
#include "trace/rows/batch.h"
#include "trace/rows/strings.h"

namespace fathom::containers {

class LiveMetrics {
 public:
  // `where` is [ADDRESS:]PORT: loopback unless it says something else; port 0 is any free one.
  static Result<std::unique_ptr<LiveMetrics>> serve(const std::string& where);
  LiveMetrics() = default;  // serves nobody: for tests of text()

  // From now on values are of this run; those of the one before are forgotten.
  void begin_run(const std::string& application, std::string_view kind);
  // The last value of each series of the whole run; those of single processes are left out.
  void take(const trace::Strings& strings, std::span<const trace::CounterRow> rows);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::string& address() const { return address_; }  // "127.0.0.1:9100"

 private:
  struct Series {
    std::string unit;
    double value = 0;
  };
  void work(const std::stop_token& stop) const;
  void answer(int connection) const;

  mutable std::mutex mutex_;
  std::map<std::string, Series, std::less<>> series_;  // by name
  std::string labels_;
  std::string address_;
  Fd door_;
  std::jthread thread_;  // last: it ends before what it uses
};

// A source whose counters are also live metrics.
class TappedSource final : public sources::Source {
 public:
  TappedSource(sources::Source& source, LiveMetrics& metrics)
      : source_(source), metrics_(metrics) {}
  Status start(const sources::SourceContext& /*context*/) override { return {}; }
  void stop() override {}
  void drain(trace::Strings& strings, trace::HostRows& rows) override;

 private:
  sources::Source& source_;
  LiveMetrics& metrics_;
};

}  // namespace fathom::containers
