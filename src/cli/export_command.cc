// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/contract.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "cli/store_stream.h"
#include "render/export/exporter.h"

namespace fathom::cli {
namespace {

std::string format_help() {
  std::vector<std::string> words;
  for (const render::ExporterDef* def : render::exporters()) words.emplace_back(def->name);
  return join(words, ", ");
}

Status check_layers(const std::vector<std::string>& layers) {
  const auto known = analysis::layer_names();
  for (const std::string& layer : layers) {
    if (std::ranges::find(known, layer) != known.end()) continue;
    return usage_error("no layer '" + escape_control(layer) + "'",
                       "'fathom doctor' lists the layers");
  }
  return {};
}

// Seconds since the start of the recording.
Result<render::ExportNumber> bound_of(const Parser& parser, const char* name, double seconds) {
  if (!parser.given(name)) return render::ExportNumber();
  constexpr double kMost = 9e9;
  if (!std::isfinite(seconds) || std::abs(seconds) > kMost) {
    return usage_error(std::string(name) + " is not a time", "give seconds since the start");
  }
  return render::ExportNumber(std::llround(seconds * 1e9));
}

struct Options {
  std::string trace, format, output;
  std::vector<std::string> layers, pids;
  double from = 0;
  double to = 0;
};

Result<RowFilter> filter_of(const Parser& parser, const Options& options) {
  RowFilter filter;
  FATHOM_TRY(check_layers(options.layers));
  filter.layers = options.layers;
  for (const std::string& text : options.pids) {
    const Result<std::int64_t> pid = parse_int(text);
    if (!pid)
      return usage_error("'" + escape_control(text) + "' is not a pid", "--pid takes numbers");
    filter.pids.push_back(*pid);
  }
  FATHOM_ASSIGN(filter.from_ns, bound_of(parser, "--from", options.from));
  FATHOM_ASSIGN(filter.to_ns, bound_of(parser, "--to", options.to));
  return filter;
}

Result<int> run(Parser& parser) {
  Options options;
  parser.positional("TRACE", options.trace, "the recording");
  parser.option("--format", options.format, "FORMAT", format_help());
  parser.option("-o,--output", options.output, "OUT",
                "the file to write; '-' is stdout; NAME.gz compresses chrome and pfw");
  parser.option("--layers", options.layers, "LAYER,…", "only events and counters of these layers");
  parser.option("--pid", options.pids, "PID,…", "only these processes");
  parser.option("--from", options.from, "SECONDS",
                "only what ends at or after this time since the start");
  parser.option("--to", options.to, "SECONDS", "only what begins before this time since the start");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  if (options.format.empty())
    return usage_error("no format was named", "--format takes " + format_help());
  if (options.output.empty()) return usage_error("no file was named", "say where with -o OUT");
  FATHOM_ASSIGN(const render::ExporterDef* const exporter, render::find_exporter(options.format));
  FATHOM_ASSIGN(RowFilter filter, filter_of(parser, options));
  const bool gzip = options.output.ends_with(".gz");
  if (gzip && !exporter->gzip) {
    return usage_error("format " + options.format + " is not compressed",
                       "choose a name without .gz");
  }
  FATHOM_ASSIGN(analysis::Store store, open_store(options.trace));
  FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(options.output, gzip));
  StoreStream stream(store, std::move(filter));
  FATHOM_TRY(exporter->write(stream, sink));
  FATHOM_TRY(sink.finish());
  return 0;
}

}  // namespace

extern const CommandDef kExportCommand;
const CommandDef kExportCommand = {
    .name = "export",
    .summary = "Writes a recording in a format that other tools read",
    .usage = "TRACE --format FORMAT -o OUT [OPTION…]",
    .example =
        "fathom export run.fathom --format perfetto -o run.pftrace\n"
        "fathom export run.fathom --format pfw -o run.pfw.gz --layers posix,stdio",
    .run = run,
};

}  // namespace fathom::cli
