// SPDX-License-Identifier: MIT
// Parquet's DELTA_BINARY_PACKED: what rises steadily, such as times and positions, takes few bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace fathom::sql::parquet {

void put_deltas(std::string& out, std::span<const std::int32_t> values);
void put_deltas(std::string& out, std::span<const std::int64_t> values);

}  // namespace fathom::sql::parquet
