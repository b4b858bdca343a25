// SPDX-License-Identifier: MIT
// What an application leaves in its files, copied into our folder: out of a container that has
// ended, or out of a folder of this machine.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "containers/engine.h"
#include "containers/kept_outputs.h"

namespace fathom::containers {

// Each path below the kept folder as it is inside: /var/log/app becomes var/log/app. What is not
// there is counted. An error: the engine failed; what came before it is kept.
Status copy_from_container(Engine& engine, const std::string& id,
                           const std::vector<std::string>& paths, KeptOutputs& kept);

// Likewise one path, which need not be there.
Status copy_what_is_there(Engine& engine, const std::string& id, const std::string& path,
                          KeptOutputs& kept);

// Paths below `folder`. No links are followed.
Status copy_from_folder(const std::string& folder, const std::vector<std::string>& paths,
                        KeptOutputs& kept);

}  // namespace fathom::containers
