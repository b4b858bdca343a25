// SPDX-License-Identifier: MIT
// Prometheus' text format: a HELP and a TYPE line for each family, then its samples.
#include "serve/metrics.h"

#include <fmt/format.h>

namespace fathom::serve {
namespace {

void begin_family(std::string& out, std::string_view name, std::string_view type,
                  std::string_view help) {
  out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

template <class Number>
void add_single(std::string& out, std::string_view name, std::string_view type,
                std::string_view help, Number value) {
  begin_family(out, name, type, help);
  out += fmt::format("{} {}\n", name, value);
}

}  // namespace

void Metrics::count_request(std::string_view route, std::string_view method, int status) {
  const std::scoped_lock guard(mutex_);
  ++requests_[{std::string(route), std::string(method), status}];
}

void Metrics::count_refusal(std::string_view reason) {
  const std::scoped_lock guard(mutex_);
  ++refusals_[std::string(reason)];
}

void Metrics::count_bytes(std::uint64_t received, std::uint64_t sent) {
  const std::scoped_lock guard(mutex_);
  received_ += received;
  sent_ += sent;
}

void Metrics::count_batch(std::string_view kind, std::uint64_t rows) {
  const std::scoped_lock guard(mutex_);
  auto& [batches, all_rows] = batches_[std::string(kind)];
  ++batches;
  all_rows += rows;
}

void Metrics::count_store_time(std::chrono::nanoseconds time) {
  const std::scoped_lock guard(mutex_);
  ++store_calls_;
  store_time_ += time;
}

void Metrics::open_connection() {
  const std::scoped_lock guard(mutex_);
  ++connections_made_;
  ++connections_;
}

void Metrics::close_connection() {
  const std::scoped_lock guard(mutex_);
  --connections_;
}

void Metrics::open_stream() {
  const std::scoped_lock guard(mutex_);
  ++streams_;
}

void Metrics::close_stream() {
  const std::scoped_lock guard(mutex_);
  --streams_;
}

std::string Metrics::text() const {
  const std::scoped_lock guard(mutex_);
  std::string out;
  begin_family(out, "fathom_requests_total", "counter", "Answered requests.");
  for (const auto& [key, count] : requests_) {
    const auto& [route, method, status] = key;
    out += fmt::format("fathom_requests_total{{route=\"{}\",method=\"{}\",status=\"{}\"}} {}\n",
                       route, method, status, count);
  }
  begin_family(out, "fathom_refusals_total", "counter", "Requests refused by a limit or a token.");
  for (const auto& [reason, count] : refusals_)
    out += fmt::format("fathom_refusals_total{{reason=\"{}\"}} {}\n", reason, count);
  begin_family(out, "fathom_batches_total", "counter", "Batches that the store has acknowledged.");
  for (const auto& [kind, counts] : batches_)
    out += fmt::format("fathom_batches_total{{kind=\"{}\"}} {}\n", kind, counts.first);
  begin_family(out, "fathom_rows_total", "counter", "Rows and records in these batches.");
  for (const auto& [kind, counts] : batches_)
    out += fmt::format("fathom_rows_total{{kind=\"{}\"}} {}\n", kind, counts.second);
  begin_family(out, "fathom_store_seconds", "summary", "Time spent in calls of the store.");
  out += fmt::format("fathom_store_seconds_sum {}\nfathom_store_seconds_count {}\n",
                     std::chrono::duration<double>(store_time_).count(), store_calls_);
  add_single(out, "fathom_received_bytes_total", "counter", "Bytes of request bodies.", received_);
  add_single(out, "fathom_sent_bytes_total", "counter", "Bytes of answers' bodies.", sent_);
  add_single(out, "fathom_connections_total", "counter", "Connections since the start.",
             connections_made_);
  add_single(out, "fathom_connections", "gauge", "Connections that are open.", connections_);
  add_single(out, "fathom_event_streams", "gauge", "Clients of /api/v1/events.", streams_);
  return out;
}

}  // namespace fathom::serve
