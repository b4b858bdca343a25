// SPDX-License-Identifier: MIT
// Names of the recorder's counters become names of metrics; those of the application, which may be
// any text, are values of a label.
#include "containers/live_metrics.h"

#include <exception>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "fleet/http/prometheus.h"
#include "session/stream/look_pace.h"

namespace fathom::containers {
namespace {

constexpr char kAppCounter[] = "fathom_app_counter";
constexpr char kLeftOut[] = "fathom_app_values_left_out_total";

// Seconds and bytes are what Prometheus' names end with; some of ours do already.
std::string name_of(const analysis::CounterNow& counter) {
  std::string name = fleet::metric_name("fathom_", counter.name);
  const std::string_view ending = counter.unit == "ns"      ? "_seconds"
                                  : counter.unit == "bytes" ? "_bytes"
                                                            : "";
  if (!name.ends_with(ending)) name += ending;
  return name;
}

void add_sampled(const analysis::CounterNow& counter, const MeasuredRun& run,
                 fleet::PrometheusText& out) {
  constexpr double kNs = 1e9;
  const bool is_time = counter.unit == "ns";
  const std::string name = name_of(counter);
  out.begin_family(name, "untyped");
  out.add(name, is_time ? counter.value / kNs : counter.value,
          {{"application", run.application}, {"run", run.kind}});
}

void add_told(const analysis::Activity& activity, const MeasuredRun& run,
              fleet::PrometheusText& out) {
  if (activity.app_counters.empty() && activity.app_counters_left_out == 0) return;
  out.begin_family(kAppCounter, "gauge", "The application's own counters: the last value of each.");
  for (const analysis::CounterNow& counter : activity.app_counters)
    out.add(kAppCounter, counter.value,
            {{"application", run.application}, {"run", run.kind}, {"name", counter.name}});
  out.begin_family(kLeftOut, "counter",
                   "Values of further counters: there were too many names, or too long ones.");
  out.add(kLeftOut, static_cast<double>(activity.app_counters_left_out),
          {{"application", run.application}, {"run", run.kind}});
}

}  // namespace

std::string prometheus_text(const analysis::Activity& activity, const MeasuredRun& run) {
  fleet::PrometheusText out;
  for (const analysis::CounterNow& counter : activity.counters) add_sampled(counter, run, out);
  add_told(activity, run, out);
  return out.text();
}

void LiveMetrics::begin_run(MeasuredRun run) {
  const std::scoped_lock guard(mutex_);
  begun_ = std::move(run);
}

void LiveMetrics::take_begun() {
  const std::scoped_lock guard(mutex_);
  if (!begun_) return;
  run_ = std::move(*begun_);
  begun_.reset();
  live_.reset();
  next_look_ns_ = 0;
  text_.clear();
}

Result<std::string> LiveMetrics::look() {
  if (!live_) {
    FATHOM_ASSIGN(live_, analysis::LiveRecording::open(run_.recording, {}));
  }
  FATHOM_ASSIGN(const analysis::Activity activity, live_->look());
  return prometheus_text(activity, run_);
}

// The application's run matters more than who looks on: no more than a tenth of a core goes into
// it, and nothing that is thrown leaves it.
std::string LiveMetrics::text() {
  take_begun();
  if (now_monotonic_ns() < next_look_ns_) return text_;
  const session::LookPace pace;
  try {
    if (Result<std::string> read = look()) text_ = std::move(*read);
  } catch (const std::exception&) {  // no memory
    live_.reset();
  }
  next_look_ns_ = now_monotonic_ns() + pace.rest_ns(pause_ns_);
  return text_;
}

Result<std::unique_ptr<ServedMetrics>> ServedMetrics::begin(const std::string& where) {
  FATHOM_ASSIGN(MetricsDoor door, MetricsDoor::open(where, "--metrics"));
  return std::unique_ptr<ServedMetrics>(new ServedMetrics(std::move(door)));
}

ServedMetrics::ServedMetrics(MetricsDoor door) : door_(std::move(door)) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    door_.serve(stop, [this] { return metrics_.text(); });
  });
}

}  // namespace fathom::containers
