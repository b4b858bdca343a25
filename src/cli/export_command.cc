// SPDX-License-Identifier: MIT
// `fathom export`: checks that options fit the format before the recording is opened, which may
// take long.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/shown_rows.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/filter_options.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/page_export.h"
#include "cli/parser.h"
#include "convert/export.h"
#include "render/export/exporter.h"
#include "render/export/flame_tree.h"

namespace fathom::cli {
namespace {

// Each format, what it is and what reads it; a dialect is named by the options that choose it.
std::vector<std::pair<std::string, std::string>> format_help() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const render::ExporterDef* def : render::exporters()) {
    std::string name(def->name);
    if (!def->dialect.empty()) name += " --dialect " + std::string(def->dialect);
    rows.emplace_back(std::move(name), def->summary);
  }
  return rows;
}

std::string format_names() {
  std::vector<std::string> words;
  for (const render::ExporterDef* def : render::exporters()) {
    if (def->dialect.empty()) words.emplace_back(def->name);
  }
  return join(words, ", ");
}

struct Options {
  std::string trace, format, dialect, output, split, key, table, weight, base;
  FilterOptions filters;
  bool anonymize = false;
  bool safe_csv = false;
};

Result<analysis::RowFilter> filter_for(const Parser& parser, const Options& options) {
  FATHOM_ASSIGN(analysis::RowFilter filter, filter_of(parser, options.filters));
  if (!options.table.empty()) {
    FATHOM_TRY(analysis::find_filtered_view(options.table));
    filter.table = options.table;
  }
  return filter;
}

void declare(Parser& parser, Options& options) {
  parser.positional("TRACE", options.trace, kTraceHelp);
  parser.option("--format", options.format, "FORMAT", "format to write, see below");
  parser.list("Formats", format_help());
  parser.option("--dialect", options.dialect, "NAME",
                "variant of the format, see below; 'safe' is the same as --safe-csv");
  parser.option("-o,--output", options.output, "OUT",
                "file to write, or '-' for stdout; text formats are compressed if the name ends in "
                ".gz; alnair, tau and waggle write a directory");
  declare_filters(parser, options.filters);
  parser.option("--table", options.table, "VIEW",
                "table to export as csv or parquet (default: events)");
  parser.option("--weight", options.weight, "cpu|off-cpu|all|calls",
                "flamegraph and collapsed: CPU time, time off the CPU, both, or recorded calls "
                "(default: cpu; for collapsed all samples, or calls if there are none)");
  parser.option("--differential", options.base, "BASE",
                "flamegraph: color frames by the change of their share since recording BASE");
  declare_safe_csv(parser, options.safe_csv);
  parser.option("--split", options.split, "process",
                "write one file per process, named OUT with the process ID");
  parser.flag("--anonymize", options.anonymize,
              "replace paths, hosts, programs and command lines with hashes");
  parser.option(
      "--anonymize-key", options.key, "TEXT",
      "key for the hashes, so that several exports match; anyone who knows it can test guesses");
}

std::string directory_of(const std::string& output) {
  const std::string above = std::filesystem::path(output).parent_path();
  return above.empty() ? "." : above;
}

Status check_stacks(const render::ExporterDef& exporter, const Options& options) {
  if (!options.weight.empty() && exporter.write_stacks == nullptr)
    return usage_error("format " + options.format + " has no --weight",
                       "--weight is for flamegraph and collapsed");
  if (options.base.empty()) return {};
  if (!exporter.compares)
    return usage_error("format " + options.format + " cannot compare two recordings",
                       "--differential is for flamegraph");
  if (!options.split.empty())
    return usage_error("--differential compares whole recordings", "leave --split out");
  return {};
}

// A condition is about events: samples and other tables do not have their columns.
Status check_condition(const render::ExporterDef& exporter, const Options& options) {
  if (options.filters.condition.empty()) return {};
  if (!options.table.empty() && options.table != "events")
    return usage_error("--where selects events, not " + escape_control(options.table),
                       "leave --where or --table out");
  if (exporter.write_stacks != nullptr && options.weight != "calls")
    return usage_error("--where selects events, and format " + options.format + " shows samples",
                       "add --weight calls, or use another format: all others take --where");
  return {};
}

Status check(const render::ExporterDef& exporter, const Options& options) {
  if (options.output.ends_with(".gz") && exporter.gzip == render::Gzip::kNever)
    return usage_error("format " + options.format + " is never compressed",
                       "choose a name without .gz");
  if (!options.split.empty() && options.split != "process")
    return usage_error("cannot split by '" + options.split + "'", "use --split process");
  if (!options.split.empty() && options.output == "-")
    return usage_error("several files cannot be written to stdout", "name a file with -o");
  if (exporter.is_folder() && (options.output == "-" || !options.split.empty()))
    return usage_error("format " + options.format + " is a directory of files",
                       "name it with -o, and leave --split out");
  if (!options.table.empty() && !exporter.of_table)
    return usage_error("format " + options.format + " does not write a single table",
                       "leave --table out, or use --format csv or parquet");
  FATHOM_TRY(check_stacks(exporter, options));
  FATHOM_TRY(check_condition(exporter, options));
  const bool of_rows = exporter.of_rows;
  if (!of_rows && (options.anonymize || !options.split.empty()))
    return usage_error("format " + options.format + " supports neither --anonymize nor --split",
                       "leave --anonymize and --split out");
  return {};
}

// The other recording's stacks. Numbers of its processes are its own: --pid means the first one's.
Result<render::FlameTree> base_of(const Options& options, analysis::RowFilter filter,
                                  render::StackWeight weight) {
  FATHOM_ASSIGN(analysis::Store store, open_store(options.base, {.remembers_files = true}));
  FATHOM_TRY(analysis::judge_condition(store, filter.condition));
  filter.pids.clear();
  Result<render::FlameTree> tree =
      convert::flames_of(store, std::move(filter), weight, options.anonymize ? options.key : "");
  if (!tree) return std::move(tree).error().with("--differential " + options.base);
  return tree;
}

Status write(const Options& options, const render::ExporterDef& exporter,
             analysis::RowFilter filter) {
  render::StackChoice choice;
  if (!options.weight.empty()) {
    FATHOM_ASSIGN(choice.weight, render::parse_weight(options.weight));
  }
  std::optional<render::FlameTree> base;
  if (!options.base.empty()) {
    FATHOM_ASSIGN(base, base_of(options, filter, choice.weight));
    choice.base = &*base;
  }
  FATHOM_ASSIGN(
      analysis::Store store,
      open_store(options.trace, {.output = exporter.by_database ? directory_of(options.output) : "",
                                 .remembers_files = exporter.by_thread}));
  FATHOM_TRY(analysis::judge_condition(store, filter.condition));
  convert::Export work(store, exporter, options.anonymize ? options.key : "");
  work.choose(choice);
  return options.split.empty() ? work.write(options.output, std::move(filter))
                               : work.write_each(options.output, filter);
}

Result<int> run(Parser& parser) {
  Options options;
  declare(parser, options);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  if (options.format.empty())
    return usage_error("no format was given", "--format takes " + format_names());
  if (options.safe_csv && (options.format != "csv" || !options.dialect.empty()))
    return usage_error("--safe-csv needs csv output", "add --format csv");
  if (options.safe_csv) options.dialect = "safe";
  if (options.output.empty())
    return usage_error("no output file was given", "name one with -o OUT");
  FATHOM_ASSIGN(const render::ExporterDef* const exporter,
                render::find_exporter(options.format, options.dialect));
  FATHOM_TRY(check(*exporter, options));
  FATHOM_ASSIGN(analysis::RowFilter filter, filter_for(parser, options));
  if (options.key.empty()) options.key = random_id();
  FATHOM_TRY(exporter->is_page ? export_page(options.trace, std::move(filter), options.output)
                               : write(options, *exporter, std::move(filter)));
  return 0;
}

}  // namespace

extern const CommandDef kExportCommand;
const CommandDef kExportCommand = {
    .name = "export",
    .summary = "Convert a recording to a format that other tools read",
    .usage = "TRACE --format FORMAT -o OUT [OPTION…]",
    .example =
        "fathom export run.fathom --format perfetto -o run.pftrace\n"
        "fathom export run.fathom --format pfw -o run.pfw.gz --layers posix,stdio\n"
        "fathom export run.fathom --format html -o run.html\n"
        "fathom export run.fathom --format csv -o slow.csv --where \"dur > 1000000\"\n"
        "fathom export new.fathom --format flamegraph --differential old.fathom -o new.svg",
    .run = run,
};

}  // namespace fathom::cli
