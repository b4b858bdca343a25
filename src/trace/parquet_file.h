// SPDX-License-Identifier: MIT
// Names and soundness of the Parquet files of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace fathom::trace {

// `events-7.parquet` or `events.parquet`. In the order of their parts, the tenth after the ninth.
struct ParquetName {
  std::string table;
  std::optional<std::uint64_t> part;
  bool operator<(const ParquetName& other) const {
    return std::tie(table, part) < std::tie(other.table, other.part);
  }
};
std::optional<ParquetName> parse_parquet_name(std::string_view name);
std::string parquet_name(std::string_view table, std::uint64_t part);
std::string parquet_name(std::string_view table);

// What is wrong with a file; "" where both ends bear the mark and the footer fits in between.
std::string parquet_damage(const std::string& path);

// The parts of a table in a directory, ascending, damaged ones too.
std::vector<std::uint64_t> parquet_parts(const std::string& directory, std::string_view table);

}  // namespace fathom::trace
