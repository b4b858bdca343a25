// SPDX-License-Identifier: MIT
// A server's jobs as what `top` watches. In a build without the fleet: the reason why not.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/top/top_source.h"

namespace fathom::cli::top {

// As they were given; "": not given.
struct ServerChoice {
  std::string url;
  std::string token_file;
};

Result<std::unique_ptr<TopSource>> watch_server(const ServerChoice& choice);

// Whether there is one without being named: by FATHOM_SERVER, or one that this user runs here.
[[nodiscard]] bool has_server();

}  // namespace fathom::cli::top
