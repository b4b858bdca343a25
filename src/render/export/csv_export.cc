// SPDX-License-Identifier: MIT
// Rows of a view as CSV (RFC 4180), with a header.
#include "render/export/exporter.h"
#include "render/render.h"

namespace fathom::render {
namespace {

Status write(EventStream& from, ByteSink& to) {
  SinkBuffer buffer(to);
  RowPrinter printer(Format::kCsv, {}, [&](std::string_view text) -> Status {
    buffer.text() += text;
    return buffer.flush_if_large();
  });
  FATHOM_TRY(from.table([&](const Table& rows) { return printer.rows(rows); }));
  FATHOM_TRY(printer.finish());
  return buffer.flush();
}

}  // namespace

extern const ExporterDef kCsvExporter;
const ExporterDef kCsvExporter = {
    .name = "csv",
    .summary = "rows of a view, by default events",
    .gzip = Gzip::kByName,
    .write = write,
};

}  // namespace fathom::render
