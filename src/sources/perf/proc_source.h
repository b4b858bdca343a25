// SPDX-License-Identifier: MIT
// Layer cpu where performance events are refused: /proc is read at the rate of the samples.
#pragma once

#include <memory>

#include "base/result.h"
#include "sources/source.h"

namespace fathom::sources {

// What of the layer is missing then: `refused` with its line that changes it.
[[nodiscard]] Availability proc_availability(const Error& refused);

// adopt() comes before start(), but where processes that run already join.
[[nodiscard]] std::unique_ptr<Source> make_proc_source(const Error& refused);

}  // namespace fathom::sources
