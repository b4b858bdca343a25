// SPDX-License-Identifier: MIT
// Rows of a view as CSV (RFC 4180), with a header.
#include "render/export/exporter.h"
#include "render/render.h"

namespace fathom::render {
namespace {

Status write_rows(EventStream& from, ByteSink& to, const Style& style) {
  SinkBuffer buffer(to);
  RowPrinter printer(Format::kCsv, style, [&](std::string_view text) -> Status {
    buffer.text() += text;
    return buffer.flush_if_large();
  });
  FATHOM_TRY(from.table([&](const Table& rows) { return printer.rows(rows); }));
  FATHOM_TRY(printer.finish());
  return buffer.flush();
}

Status write(EventStream& from, ByteSink& to) { return write_rows(from, to, {}); }
Status write_safe(EventStream& from, ByteSink& to) {
  return write_rows(from, to, {.safe_csv = true});
}

}  // namespace

extern const ExporterDef kCsvExporter;
const ExporterDef kCsvExporter = {
    .name = "csv",
    .summary = "one table as CSV, events unless --table names another",
    .gzip = Gzip::kByName,
    .of_table = true,
    .write = write,
};

// For spreadsheets, which compute texts that begin like a formula.
extern const ExporterDef kSafeCsvExporter;
const ExporterDef kSafeCsvExporter = {
    .name = "csv",
    .dialect = "safe",
    .summary = "the same for spreadsheets: no cell is taken for a formula",
    .gzip = Gzip::kByName,
    .of_table = true,
    .write = write_safe,
};

}  // namespace fathom::render
