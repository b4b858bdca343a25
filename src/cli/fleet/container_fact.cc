// SPDX-License-Identifier: MIT
// What `fathom doctor` says of the container engine.
#include "cli/machine.h"
#include "containers/engine.h"

namespace fathom::cli {

std::vector<Value> container_fact() {
  const Result<containers::Engine> engine = containers::Engine::connect();
  if (engine)
    return {Value(std::string("containers")), Value(std::string("ok")),
            Value("an engine answers at " + engine->socket() + ", version " + engine->version() +
                  " of Docker's API"),
            Value()};
  return {Value(std::string("containers")), Value(std::string("note")),
          Value(engine.error().message), Value(std::string("systemctl start docker"))};
}

}  // namespace fathom::cli
