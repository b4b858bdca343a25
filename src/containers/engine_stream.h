// SPDX-License-Identifier: MIT
// A question to the engine whose answer takes as long as the application runs: its output, its end.
// Polled beside others; fleet's HttpClient, which waits for answers, asks everything else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "fleet/http_client.h"

namespace fathom::fleet {
class AnswerReader;
}

namespace fathom::containers {

class EngineStream {
 public:
  using Takes = fleet::HttpClient::TakesBytes;

  // POST `target` without a body. `take` gets the body as it comes.
  static Result<EngineStream> open(const std::string& socket, const std::string& target,
                                   const Takes& take);
  EngineStream(EngineStream&&) noexcept;
  EngineStream& operator=(EngineStream&&) noexcept;
  ~EngineStream();

  [[nodiscard]] int fd() const { return line_.get(); }
  // Reads what is there, without waiting. kUnavailable: the engine has gone in the middle of it.
  Status read();
  [[nodiscard]] bool has_ended() const;
  // Of the answer's head; 0: it has not come yet.
  [[nodiscard]] int status() const;
  // Waits until the head has come, or all of it, for so long.
  Status wait_for_head(int limit_ms);
  Status wait_for_end(int limit_ms);

 private:
  Status wait_until(int limit_ms, const std::function<bool()>& is_there);
  EngineStream(Fd line, std::unique_ptr<fleet::AnswerReader> reader);
  Fd line_;
  std::unique_ptr<fleet::AnswerReader> reader_;
  bool ended_ = false;
};

}  // namespace fathom::containers
