// SPDX-License-Identifier: MIT
// The name of the page as a file. It holds what the server's routes answer, so it is written above:
// serve/page/page_file.h.
#include "render/export/exporter.h"

namespace fathom::render {

extern const ExporterDef kHtmlExporter;
const ExporterDef kHtmlExporter = {
    .name = "html",
    .summary = "the page of fathom view as one file that needs no server and no network",
    .gzip = Gzip::kNever,
    .of_rows = false,
    .is_page = true,
};

}  // namespace fathom::render
