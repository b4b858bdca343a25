// SPDX-License-Identifier: MIT
// One page of metrics over HTTP, for Prometheus and for people: whoever asks gets it, and nobody
// waits for another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.h"
#include "base/result.h"
#include "fleet/http/host_names.h"

namespace fathom::containers {

using MetricsText = std::function<std::string()>;

// What a client gets for its bytes, whatever they are: head and body of an answer. No socket, for
// tests and a fuzzer.
[[nodiscard]] std::string metrics_answer(std::string_view question, const fleet::HostNames& hosts,
                                         const MetricsText& text);

// Owns the socket that listens: nobody is answered any more when it goes. serve() returns when
// `stop` is asked for, and is called by one thread.
class MetricsDoor {
 public:
  // Listens at [ADDRESS:]PORT, which `option` says: at loopback unless an address is given; port 0
  // is any free one. No thread is made, so that a process may still fork.
  static Result<MetricsDoor> open(const std::string& where, std::string_view option);

  [[nodiscard]] const std::string& address() const { return address_; }  // "127.0.0.1:9100"
  // "metrics are served at http://127.0.0.1:41234/metrics".
  [[nodiscard]] std::string sentence() const;
  // Port 0 was asked for: nobody knows the address unless it is told.
  [[nodiscard]] bool has_chosen_port() const { return has_chosen_port_; }
  // Answers with what `text` gives at that moment.
  void serve(const std::stop_token& stop, const MetricsText& text,
             std::int64_t patience_ns = kPatienceNs) const;

 private:
  static constexpr std::int64_t kPatienceNs = 2'000'000'000;  // with each client
  MetricsDoor() = default;

  Fd door_;
  std::string address_;
  bool has_chosen_port_ = false;
  fleet::HostNames hosts_;
};

}  // namespace fathom::containers
