// SPDX-License-Identifier: MIT
// Where a command finds the jobs: with the server that was named, with the one that this user runs
// here, or in this user's own file, in process: one user needs no server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

// As they were given on the command line; "": not given.
struct PlaceOptions {
  std::string server;  // http://…, https://…, or a store: sqlite:FILE, redis://…
  std::string token_file;
};

// A store, and what it takes to speak to it.
struct StorePlace {
  std::string url;  // of a server, or sqlite:FILE, redis://HOST:PORT/DB, redis+unix:PATH
  std::string token;
  std::string fingerprint;  // of the server's certificate; "": authorities are asked
  // What files of the outbox call it: the first; files with any of them are for it. A server that
  // was found keeps its first label when its port changes.
  std::vector<std::string> labels;
};

// FATHOM_SERVER and FATHOM_TOKEN stand for what was not given. Nothing is connected yet. An Error:
// the file of the token cannot be read, or others can read it; or there is no home for a file of
// this user's own.
Result<StorePlace> find_store(const PlaceOptions& given);

// Records are checked before they get there. kUnavailable where nobody answers, now or when the
// store is first asked.
Result<std::unique_ptr<JobStore>> open_place(const StorePlace& place);

}  // namespace fathom::fleet
