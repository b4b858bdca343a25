// SPDX-License-Identifier: MIT
// Which parts of this machine an instruction file may open to a container.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::containers {

// The source without links, if it may be mounted. Not: what is missing, the machine's root, what
// the kernel tells and takes (/proc, /sys, /dev), and whatever holds the engine's socket: kInvalid.
Result<std::string> safe_source(const std::string& source, const std::string& engine_socket);

// Where it may appear: an absolute path that is not the container's root, nor the kernel's, nor
// ours.
Status check_target(const std::string& target);

}  // namespace fathom::containers
