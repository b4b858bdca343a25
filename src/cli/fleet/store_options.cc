// SPDX-License-Identifier: MIT
// Declares the options by which all commands of jobs find their store, once for all of them.
// fleet/stores/find_store.cc decides which store they mean.
#include "cli/fleet/store_options.h"

namespace fathom::cli {

void declare_store(Parser& parser, fleet::PlaceOptions& options) {
  parser.option("--server", options.server, "URL",
                "the server that has the jobs (default: $FATHOM_SERVER, else your own server on "
                "this machine, else a file of your own, without a server)");
  parser.option("--token-file", options.token_file, "FILE",
                "a file with the token for the server, readable only by you (default: "
                "$FATHOM_TOKEN, else the token of your own server)");
}

Result<std::unique_ptr<fleet::JobStore>> open_given_store(const fleet::PlaceOptions& options) {
  FATHOM_ASSIGN(const fleet::StorePlace place, fleet::find_store(options));
  return fleet::open_place(place);
}

}  // namespace fathom::cli
