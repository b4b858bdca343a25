// SPDX-License-Identifier: MIT
// `fathom view` put together: one token, the page, and what it asks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/http/server.h"
#include "serve/recordings/named_recordings.h"
#include "serve/recordings/open_recordings.h"
#include "serve/routes/routes.h"

namespace fathom::serve {

struct ViewServiceOptions {
  std::vector<NamedTrace> traces;  // at least one
  std::vector<NotShown> not_shown = {};
  Address listen;
  std::string socket;  // instead of `listen`: a path
  trace::NameResolver names = {};
  QuestionLimits limits = {};
};

// Handed to `ready`, and valid as long as serve_view() runs. Whoever knows `url` may read the
// recordings: it is for the user alone.
struct ViewAddress {
  std::string url;  // with the token
  std::string token;
  std::uint16_t port = 0;  // 0: a socket of the file system
  std::string local;       // how this machine reaches it: HOST:PORT, or the socket's absolute path
  std::function<void()> stop;
};

// Until a signal asks it to end, or `stop` is called. `ready` is called when it can be asked.
Status serve_view(const ViewServiceOptions& options,
                  const std::function<void(const ViewAddress& address)>& ready);

}  // namespace fathom::serve
