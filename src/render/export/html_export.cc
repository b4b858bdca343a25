// SPDX-License-Identifier: MIT
// A report as one page that needs nothing but itself: no network, and no script to be read. The
// script sorts tables and switches between light and dark.
#include <string>

#include "render/export/exporter.h"
#include "render/export/flame_layout.h"
#include "render/export/flame_svg.h"
#include "render/export/flame_tree.h"
#include "render/export/html_charts.h"
#include "render/export/html_page.h"

namespace fathom::render {
namespace {

// Smaller than as a file of its own: pages are sent by mail.
constexpr FlameLimits kLimits = {.frames = 1500, .levels = 200, .least_percent = 0.05};

// Nothing where nothing was sampled.
Result<std::string> flames_of(EventStream& from) {
  Result<FlameTree> tree = load_flames(from, StackWeight::kCpu);
  if (!tree && tree.error().code == Code::kNotFound) return std::string();
  if (!tree) return std::move(tree).error();
  return "<section id=\"flames\" aria-labelledby=\"flames-h\"><h2 id=\"flames-h\">Where the " +
         html_text(tree->what) + " went</h2>" +
         flame_picture(*tree, lay_out(*tree, nullptr, kLimits)) + "</section>\n";
}

Status write(EventStream& from, ByteSink& to) {
  FATHOM_ASSIGN(const ExportReport report, from.report());
  FATHOM_ASSIGN(const std::string flames, flames_of(from));
  SinkBuffer buffer(to);
  buffer.text() += page_begin(report.title, flame_style()) + page_words(report.words) + flames;
  for (const ExportSection& section : report.sections) {
    buffer.text() += page_section(section, report.wall_ns);
    FATHOM_TRY(buffer.flush_if_large());
  }
  // Last: whoever opens the page wants to know where the time went, not which machine it was.
  buffer.text() += page_facts(report.facts) + page_end(flames.empty() ? "" : flame_script());
  return buffer.flush();
}

}  // namespace

extern const ExporterDef kHtmlExporter;
const ExporterDef kHtmlExporter = {
    .name = "html",
    .summary = "a report with charts as one web page that needs no network",
    .gzip = Gzip::kNever,
    .of_rows = false,
    .write = write,
};

}  // namespace fathom::render
