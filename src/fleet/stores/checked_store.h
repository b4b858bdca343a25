// SPDX-License-Identifier: MIT
// A store whose records are checked before it gets them: those of a benchmark for what all readers
// rely on, those of a registered kind against its schema. Every store that is not behind a server
// is opened through this one; the server does the same with its own.
#pragma once

#include <memory>

#include "fleet/store.h"

namespace fathom::fleet {

[[nodiscard]] std::unique_ptr<JobStore> checked(std::unique_ptr<JobStore> store);

}  // namespace fathom::fleet
