// SPDX-License-Identifier: MIT
// Names and words of each family of /metrics; how they are written is in fleet/http/prometheus.h.
// Names are a contract with dashboards: families are added, none is renamed.
#include "serve/http/metrics.h"

#include "fleet/http/prometheus.h"

namespace fathom::serve {
namespace {

template <class Count>
double as_value(Count count) {
  return static_cast<double>(count);
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
  fleet::PrometheusText out;
  out.begin_family("fathom_requests_total", "counter", "Answered requests.");
  for (const auto& [key, count] : requests_) {
    const auto& [route, method, status] = key;
    out.add("fathom_requests_total", as_value(count),
            {{"route", route}, {"method", method}, {"status", std::to_string(status)}});
  }
  out.begin_family("fathom_refusals_total", "counter", "Requests refused by a limit or a token.");
  for (const auto& [reason, count] : refusals_)
    out.add("fathom_refusals_total", as_value(count), {{"reason", reason}});
  out.begin_family("fathom_batches_total", "counter", "Batches that the store has acknowledged.");
  for (const auto& [kind, counts] : batches_)
    out.add("fathom_batches_total", as_value(counts.first), {{"kind", kind}});
  out.begin_family("fathom_rows_total", "counter", "Rows and records in these batches.");
  for (const auto& [kind, counts] : batches_)
    out.add("fathom_rows_total", as_value(counts.second), {{"kind", kind}});
  out.begin_family("fathom_store_seconds", "summary", "Time spent in calls of the store.");
  out.add("fathom_store_seconds_sum", std::chrono::duration<double>(store_time_).count());
  out.add("fathom_store_seconds_count", as_value(store_calls_));
  out.add_single("fathom_received_bytes_total", "counter", "Bytes of request bodies.",
                 as_value(received_));
  out.add_single("fathom_sent_bytes_total", "counter", "Bytes of answers' bodies.",
                 as_value(sent_));
  out.add_single("fathom_connections_total", "counter", "Connections since the start.",
                 as_value(connections_made_));
  out.add_single("fathom_connections", "gauge", "Connections that are open.",
                 as_value(connections_));
  out.add_single("fathom_event_streams", "gauge", "Clients of /api/v1/events.", as_value(streams_));
  return out.text();
}

}  // namespace fathom::serve
