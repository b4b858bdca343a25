// SPDX-License-Identifier: MIT
// `fathom server` put together: tokens, routes, door.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/store.h"
#include "serve/http/limits.h"
#include "serve/http/server.h"

namespace fathom::serve {

struct ServiceOptions {
  Address listen;
  std::string data;  // the directory of tokens, certificates and recordings; made where missing
  std::string certificate_file;  // PEM; with `key_file`
  std::string key_file;
  bool self_signed = false;
  bool plain = false;                   // others may reach it without TLS
  std::vector<std::string> names = {};  // by which browsers know it, besides where it listens
  Limits limits = {};
};

// What the command line adds: the store, and words for people.
struct ServiceHooks {
  // Opened when all else is found in order, so that a mistake makes no files.
  std::function<Result<std::unique_ptr<fleet::JobStore>>()> open_store;
  std::function<void(const std::string& url)> ready;
  std::function<void(const Error& error)> trouble;  // something that is no reason to end
};

// Until a signal asks it to end. An Error comes before `ready` was called, never after. All hooks
// are called by the thread that called this.
Status serve(const ServiceOptions& options, const ServiceHooks& hooks);

}  // namespace fathom::serve
