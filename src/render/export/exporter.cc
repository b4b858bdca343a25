// SPDX-License-Identifier: MIT
// The list of exporters: the one place that names them all.
#include "render/export/exporter.h"

#include <string>
#include <vector>

#include "base/text.h"

namespace fathom::render {

extern const ExporterDef kChromeExporter;
extern const ExporterDef kPerfettoExporter;
extern const ExporterDef kPfwExporter;
extern const ExporterDef kDatacrumbsExporter;
extern const ExporterDef kSpeedscopeExporter;
extern const ExporterDef kPprofExporter;
extern const ExporterDef kCollapsedExporter;
extern const ExporterDef kFlamegraphExporter;
extern const ExporterDef kHatchetExporter;
extern const ExporterDef kFirefoxExporter;
extern const ExporterDef kCsvExporter;
extern const ExporterDef kSafeCsvExporter;
extern const ExporterDef kParquetExporter;
extern const ExporterDef kHtmlExporter;
extern const ExporterDef kAlnairExporter;
extern const ExporterDef kTauExporter;
extern const ExporterDef kWaggleExporter;

namespace {

const ExporterDef* const kExporters[] = {
    &kChromeExporter,     &kPerfettoExporter, &kPfwExporter,       &kDatacrumbsExporter,
    &kSpeedscopeExporter, &kPprofExporter,    &kCollapsedExporter, &kFlamegraphExporter,
    &kHatchetExporter,    &kFirefoxExporter,  &kCsvExporter,       &kSafeCsvExporter,
    &kParquetExporter,    &kHtmlExporter,     &kAlnairExporter,    &kTauExporter,
    &kWaggleExporter,
};

}  // namespace

std::span<const ExporterDef* const> exporters() { return kExporters; }

Result<const ExporterDef*> find_exporter(std::string_view name, std::string_view dialect) {
  std::vector<std::string> names;
  bool is_format = false;
  for (const ExporterDef* def : kExporters) {
    if (def->name == name && def->dialect == dialect) return def;
    is_format |= def->name == name;
    if (def->dialect.empty()) names.emplace_back(def->name);
  }
  if (is_format)
    return usage_error(
        "format " + std::string(name) + " has no dialect '" + std::string(dialect) + "'",
        "there are: --format pfw --dialect datacrumbs, --format csv --dialect safe");
  return usage_error("there is no format '" + std::string(name) + "'",
                     "formats are " + join(names, ", "));
}

}  // namespace fathom::render
