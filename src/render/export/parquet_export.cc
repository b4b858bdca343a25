// SPDX-License-Identifier: MIT
// Rows of a view as one Parquet file.
#include "render/export/exporter.h"

namespace fathom::render {
namespace {

Status write(EventStream& from, ByteSink& to) {
  FATHOM_ASSIGN(const std::string path, to.hand_over());
  return from.write_parquet(path);
}

}  // namespace

extern const ExporterDef kParquetExporter;
const ExporterDef kParquetExporter = {
    .name = "parquet",
    .summary = "one table as a Parquet file, events unless --table names another",
    .gzip = Gzip::kNever,
    .of_rows = false,
    .by_database = true,
    .of_table = true,
    .write = write,
};

}  // namespace fathom::render
