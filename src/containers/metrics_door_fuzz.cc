// SPDX-License-Identifier: MIT
// Any bytes as a question for metrics: one whole answer, whose length is what it says, and the
// values only for who names this server.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "containers/metrics_door.h"
#include "fleet/http/request_head.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  const std::string_view question(reinterpret_cast<const char*>(data), size);
  static const fleet::HostNames hosts = fleet::host_names_for("127.0.0.1", false);
  bool was_told = false;
  const std::string answer = containers::metrics_answer(question, hosts, [&was_told] {
    was_told = true;
    return std::string("a 1\n");
  });
  const std::size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos || !answer.starts_with("HTTP/1.1 ")) std::abort();
  const std::string length =
      "\r\nContent-Length: " + std::to_string(answer.size() - end - 4) + "\r\n";
  if (answer.find(length) > end) std::abort();
  if (was_told != answer.starts_with("HTTP/1.1 200 ")) std::abort();
  if (!was_told) return 0;
  const fleet::HeadOutcome read =
      fleet::parse_head(question.substr(0, question.find("\r\n\r\n") + 4));
  const std::string host = fleet::host_name(read.request.head.header("host"));
  if (host != "localhost" && host != "127.0.0.1" && host != "[::1]") std::abort();
  return 0;
}
