// SPDX-License-Identifier: MIT
// The end of a Parquet file, which tells what the file holds, read without a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::analysis {

// "" where there is none, or it is too large to be one of ours.
[[nodiscard]] std::string parquet_footer(const std::string& path);

// How many rows the file has; nullopt where the footer does not tell. Takes any bytes.
[[nodiscard]] std::optional<std::int64_t> rows_of_footer(std::string_view footer);

}  // namespace fathom::analysis
