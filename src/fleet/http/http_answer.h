// SPDX-License-Identifier: MIT
// Bytes of a connection become an answer. No socket: fuzzers and tests feed it, too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/http/http_client.h"

namespace fathom::fleet {

// One thread at a time. `take` is called by feed() and finish(), before they return.
class AnswerReader {
 public:
  // `is_bare`: the request was HEAD, and the answer has no body.
  AnswerReader(bool is_bare, HttpClient::TakesBytes take);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // kCorrupt: this is no HTTP.
  Status feed(std::string_view bytes);
  // The connection was closed: the end of some answers, and the cutting off of others (kCorrupt).
  Status finish();

  [[nodiscard]] bool is_done() const;
  [[nodiscard]] bool is_stopped() const { return stopped_; }  // `take` said false
  [[nodiscard]] bool keeps_open() const;  // another request may follow on this connection
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] HttpAnswer head() const;  // status and headers, once they are there

 private:
  struct Parser;  // Boost's
  void begin();
  Status give_piece();

  bool is_bare_;
  HttpClient::TakesBytes take_;
  std::string buffer_;  // what is not used up
  bool stopped_ = false;
  std::unique_ptr<Parser> parser_;
};

}  // namespace fathom::fleet
