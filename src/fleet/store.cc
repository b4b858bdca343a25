// SPDX-License-Identifier: MIT
// What a store need not have.
#include "fleet/store.h"

namespace fathom::fleet {
namespace {

Error no_numbers() {
  return {Code::kUnsupported, "a server does not list the batches that it has received",
          "run this where its store is: sqlite:FILE or redis://HOST:PORT/DB"};
}

}  // namespace

Status JobStore::sent(const std::string& /*job*/, const TakesSent& /*take*/) {
  return no_numbers();
}
Status JobStore::set_sent(const std::string& /*job*/, const std::vector<SentRange>& /*ranges*/) {
  return no_numbers();
}

}  // namespace fathom::fleet
