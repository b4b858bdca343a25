// SPDX-License-Identifier: MIT
// Rows of ours into Parquet files and into tables.
#pragma once

#include <cstddef>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "sql/columns.h"
#include "sql/connection.h"

namespace fathom::sql {

// How a file is laid out. Readers skip whole row groups by their bounds, and read one at a time.
struct ParquetOptions {
  std::size_t row_group_size = 122880;
  int zstd_level = 1;  // 3 takes longer and saves nothing: dictionaries and deltas have done it
};

// Writes path + ".tmp" and renames it when it is complete: a file named `path` is always whole.
// Texts are stored as plain UTF-8 strings, dictionary-encoded where it pays. Needs no DuckDB: its
// COPY takes twice the time for batches that have their dictionaries already. On failure the
// temporary file is removed, and what `path` named before is as it was. From any thread.
Status write_parquet(const std::string& path, const Batch& batch,
                     const ParquetOptions& options = {});

// Into a file that is open for writing, and empty.
Status write_parquet(File file, const Batch& batch, const ParquetOptions& options = {});

// The batch as a table of the in-memory database, replacing one of that name: rows that are not in
// a file yet.
Status register_table(Connection& connection, const std::string& name, const Batch& batch);

}  // namespace fathom::sql
