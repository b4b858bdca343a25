// SPDX-License-Identifier: MIT
// Names and soundness of the Parquet files of a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/directory.h"
#include "base/result.h"

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
std::string parquet_damage(const File& file);
std::string parquet_damage(const Directory& directory, const std::string& name);

// The parts of a table in a directory, ascending, damaged ones too.
std::vector<std::uint64_t> parquet_parts(const Directory& directory, std::string_view table);

// A Parquet file as the database opens it: by the descriptor that was checked, so that nobody can
// put something else in its place, and it can be read although its name is gone.
struct DataFile {
  std::string path;    // for people and for other programs; "" for one that has no name
  std::string source;  // for the database, as long as this object or a copy of it is there
  std::shared_ptr<const void> held;
};
DataFile held_file(File file, std::string path);
// Descriptors are few. Where none is left for this, the name is used, if only we and root could
// exchange what it stands for.
Result<DataFile> hold(File file, const Directory& directory, const std::string& name);

}  // namespace fathom::trace
