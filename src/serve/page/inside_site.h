// SPDX-License-Identifier: MIT
// The routes of the page over one recording, for whoever asks from inside this process: no socket,
// no door, and nothing is compressed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "serve/recordings/open_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {

struct InsideWish {
  KnownRecording recording;  // or the part of it that is shown
  trace::NameResolver names = {};
  QuestionLimits limits = {};
  std::shared_ptr<const std::atomic<bool>> gone = {};  // as in Request
};

// One thread.
class InsideSite {
 public:
  explicit InsideSite(const InsideWish& wish);
  ~InsideSite();
  InsideSite(const InsideSite&) = delete;
  InsideSite& operator=(const InsideSite&) = delete;

  struct Answer {
    int status = 0;
    std::string text;  // JSON
  };
  // "/report/overview?top=3". Where an index is still being made, waits for it.
  Result<Answer> get(const std::string& target);
  Result<Answer> query(const std::string& sql);

 private:
  Result<Answer> ask(const std::string& method, const std::string& target, const std::string& body);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::serve
