// SPDX-License-Identifier: MIT
// A question to the engine on a connection of its own. Some answers take as long as the application
// runs (its output, its end) and are polled beside others; the rest is waited for. No wait is
// without an end, whatever the engine does, and a second signal that asks us to end shortens it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "fleet/http/http_client.h"

namespace fathom::fleet {
class AnswerReader;
}

namespace fathom::containers {

// One thread at a time. `take` is called by read() and by the waits, before they return.
class EngineStream {
 public:
  using Takes = fleet::HttpClient::TakesBytes;

  // `take` gets the body as it comes; false: no more is wanted. kUnavailable: nobody is there, or
  // we may not speak to them.
  static Result<EngineStream> open(const std::string& socket, const fleet::HttpRequest& request,
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
  // Waits until the head has come, or all of it, for so long; `go_on` is asked several times a
  // second.
  Status wait_for_head(int limit_ms);
  Status wait_for_end(int limit_ms, const std::function<bool()>& go_on = {});

 private:
  Status wait_until(int limit_ms, const std::function<bool()>& is_there,
                    const std::function<bool()>& go_on = {});
  EngineStream(Fd line, std::unique_ptr<fleet::AnswerReader> reader);
  Fd line_;
  std::unique_ptr<fleet::AnswerReader> reader_;
  bool ended_ = false;
};

}  // namespace fathom::containers
