// SPDX-License-Identifier: MIT
// Parquet's mixture of runs and packed bits, for levels and for the members of dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace fathom::sql::parquet {

// Every value is below 2^width, and width is 32 at most.
void put_hybrid(std::string& out, std::span<const std::uint8_t> values, unsigned width);
void put_hybrid(std::string& out, std::span<const std::uint32_t> values, unsigned width);

// The same value `count` times.
void put_run(std::string& out, std::uint32_t value, std::size_t count, unsigned width);

}  // namespace fathom::sql::parquet
