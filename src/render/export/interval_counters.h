// SPDX-License-Identifier: MIT
// Intervals as counters, for formats that know nothing else that has a height: for each name of a
// process how many calls, how many bytes and how much time an interval held, and a zero where none
// follows.
#pragma once

#include <functional>

#include "base/result.h"
#include "render/export/event_stream.h"

namespace fathom::render {

Status interval_counters(EventStream& from, const std::function<Status(const ExportCounter&)>& use);

}  // namespace fathom::render
