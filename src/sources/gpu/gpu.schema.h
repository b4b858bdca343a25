// SPDX-License-Identifier: MIT
// Source gpu's part of the schema. Source cuda writes such rows, too, so that it stands beside
// both.
#pragma once

#include "sources/device_work.guest.h"

namespace fathom::guest::gpu {

constexpr void put_schema(SchemaWriter& writer) { put_device_schema(writer); }

}  // namespace fathom::guest::gpu
