// SPDX-License-Identifier: MIT
// Jobs that are kept behind a server: JobStore by HTTP.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct RemoteOptions {
  std::string url;
  std::string token;
  std::string fingerprint = {};  // as HttpOptions
  std::string ca_file = {};
  std::chrono::milliseconds connect_limit{5'000};
  std::chrono::milliseconds patience{0};  // for a server that is away or busy
};

// Connects when it is first asked. kUsage where the URL is none. Threads that ask at the same time
// wait for each other: there is one connection.
Result<std::unique_ptr<JobStore>> open_remote_store(const RemoteOptions& options);

}  // namespace fathom::fleet
