// SPDX-License-Identifier: MIT
// One container as the engine is told to make it. The one place where instructions become words of
// the engine's API.
#pragma once

#include <string>
#include <vector>

#include "containers/engine.h"
#include "containers/instructions.h"

namespace fathom::containers {

// The application's whole command line: the entry point and its arguments, of the instructions or
// of the image, as `docker run` chooses them. Empty: neither has any.
[[nodiscard]] std::vector<std::string> command_of(const Instructions& wanted,
                                                  const ImageFacts& image);

// The application's variables, NAME=value: the image's, and those of the instructions over them.
[[nodiscard]] std::vector<std::string> environment_of(const Instructions& wanted,
                                                      const ImageFacts& image);

// Refers to what is decided once for all runs, beside what differs from run to run.
struct ContainerPlan {
  const Instructions& wanted;
  const ImageFacts& image;
  std::string results;  // a folder of this machine for what the application writes; "": none
  std::string gate;     // the folder that is mounted for a recording from inside; "": none
};
// The body of /containers/create.
[[nodiscard]] std::string create_body(const ContainerPlan& plan);

}  // namespace fathom::containers
