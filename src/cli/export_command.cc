// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/ids.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/filter_options.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "cli/store_stream.h"
#include "render/export/anonymous_stream.h"
#include "render/export/exporter.h"

namespace fathom::cli {
namespace {

std::string format_help() {
  std::vector<std::string> words;
  for (const render::ExporterDef* def : render::exporters()) {
    if (def->dialect.empty()) words.emplace_back(def->name);
  }
  return join(words, ", ");
}

struct Options {
  std::string trace, format, dialect, output, split, key, table;
  FilterOptions filters;
  bool anonymize = false;
};

Result<RowFilter> filter_for(const Parser& parser, const Options& options) {
  FATHOM_ASSIGN(RowFilter filter, filter_of(parser, options.filters));
  if (!options.table.empty()) {
    FATHOM_TRY(analysis::find_filtered_view(options.table));
    filter.table = options.table;
  }
  return filter;
}

void declare(Parser& parser, Options& options) {
  parser.positional("TRACE", options.trace, "the recording");
  parser.option("--format", options.format, "FORMAT", format_help());
  parser.option("--dialect", options.dialect, "NAME",
                "pfw: datacrumbs, whose lines are counters (DFTracer's)");
  parser.option(
      "-o,--output", options.output, "OUT",
      "the file to write; '-' is stdout; NAME.gz compresses what is text; alnair: a folder");
  declare_filters(parser, options.filters);
  parser.option("--table", options.table, "VIEW", "csv, parquet: this view's rows (events)");
  parser.option("--split", options.split, "process", "a file for each process: OUT with its pid");
  parser.flag("--anonymize", options.anonymize,
              "hashes in place of paths, hosts, programs and command lines");
  parser.option("--anonymize-key", options.key, "TEXT",
                "makes hashes of several exports alike; whoever knows it can test guesses");
}

std::string directory_of(const std::string& output) {
  const std::string above = std::filesystem::path(output).parent_path();
  return above.empty() ? "." : above;
}

// "run.pfw.gz" with "-7" before the first of its extensions.
std::string name_for(const std::string& output, const std::string& part) {
  const std::size_t slash = output.rfind('/');
  const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = std::min(output.find('.', from + 1), output.size());
  return output.substr(0, dot) + "-" + part + output.substr(dot);
}

class Export {
 public:
  Export(analysis::Store& store, const render::ExporterDef& exporter, const Options& options)
      : store_(store), exporter_(exporter), options_(options) {}

  Status write(const std::string& output, RowFilter filter) {
    if (!exporter_.parts.empty()) return write_folder(output, filter);
    return write_file(output, exporter_.write, std::move(filter));
  }

  Status write_each(const RowFilter& filter) {
    return write_each(filter, [&](const std::string& part, RowFilter one) {
      return write(name_for(options_.output, part), std::move(one));
    });
  }

 private:
  using Writer = Status (*)(render::EventStream& from, render::ByteSink& to);
  using WriteOne = std::function<Status(const std::string& part, RowFilter filter)>;

  Status write_file(const std::string& output, Writer writer, RowFilter filter) {
    const bool by_name = exporter_.gzip == render::Gzip::kByName && output.ends_with(".gz");
    const bool gzip = by_name || exporter_.gzip == render::Gzip::kAlways;
    FATHOM_ASSIGN(render::ByteSink sink, render::ByteSink::open(output, gzip));
    StoreStream stream(store_, std::move(filter));
    if (options_.anonymize) {
      render::AnonymousStream anonymous(stream, options_.key);
      FATHOM_TRY(writer(anonymous, sink));
    } else {
      FATHOM_TRY(writer(stream, sink));
    }
    return sink.finish();
  }

  // The plain names hold all processes together.
  Status write_folder(const std::string& folder, const RowFilter& filter) {
    FATHOM_TRY(make_dirs(folder));
    const auto write_parts = [&](const std::string& part, const RowFilter& rows) -> Status {
      for (const render::ExporterPart& file : exporter_.parts) {
        const std::string path = join_path(folder, file.file);
        FATHOM_TRY(write_file(part.empty() ? path : name_for(path, part), file.write, rows));
      }
      return {};
    };
    FATHOM_TRY(write_parts("", filter));
    FATHOM_ASSIGN(const auto processes, processes_of(store_, filter));
    return processes.size() > 1 ? write_each(filter, write_parts) : Status();
  }

  Status write_each(const RowFilter& filter, const WriteOne& write_one) {
    FATHOM_ASSIGN(const auto processes, processes_of(store_, filter));
    std::set<std::string> hosts;
    for (const auto& [host, pid] : processes) hosts.insert(host);
    for (const auto& [host, pid] : processes) {
      RowFilter one = filter;
      one.host = host;
      one.pids = {pid};
      const std::string part = (hosts.size() > 1 ? host + "-" : "") + std::to_string(pid);
      FATHOM_TRY(write_one(part, std::move(one)));
    }
    FATHOM_ASSIGN(const bool others, has_rows_without_process(store_, filter));
    if (!others) return {};
    RowFilter rest = filter;
    rest.without_process = true;
    return write_one("machine", std::move(rest));
  }

  analysis::Store& store_;
  const render::ExporterDef& exporter_;
  const Options& options_;
};

Status check(const render::ExporterDef& exporter, const Options& options) {
  if (options.output.ends_with(".gz") && exporter.gzip == render::Gzip::kNever)
    return usage_error("format " + options.format + " is not compressed",
                       "choose a name without .gz");
  if (!options.split.empty() && options.split != "process")
    return usage_error("cannot split by '" + escape_control(options.split) + "'",
                       "--split takes process");
  if (!options.split.empty() && options.output == "-")
    return usage_error("several files do not fit into stdout", "name a file with -o");
  if (!exporter.parts.empty() && (options.output == "-" || !options.split.empty()))
    return usage_error("format " + options.format + " is a folder of files",
                       "name it with -o, and leave --split out");
  const bool of_rows = exporter.of_rows;
  if (!of_rows && (options.anonymize || !options.split.empty()))
    return usage_error("format " + options.format + " can be neither anonymous nor split",
                       "leave --anonymize and --split out");
  return {};
}

Result<int> run(Parser& parser) {
  Options options;
  declare(parser, options);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  if (options.format.empty())
    return usage_error("no format was named", "--format takes " + format_help());
  if (options.output.empty()) return usage_error("no file was named", "say where with -o OUT");
  FATHOM_ASSIGN(const render::ExporterDef* const exporter,
                render::find_exporter(options.format, options.dialect));
  FATHOM_TRY(check(*exporter, options));
  FATHOM_ASSIGN(RowFilter filter, filter_for(parser, options));
  if (options.key.empty()) options.key = random_id();
  FATHOM_ASSIGN(analysis::Store store,
                open_store(options.trace,
                           {.output = exporter->by_database ? directory_of(options.output) : "",
                            .remembers_files = exporter->by_thread}));
  Export work(store, *exporter, options);
  if (options.split.empty()) {
    FATHOM_TRY(work.write(options.output, std::move(filter)));
  } else {
    FATHOM_TRY(work.write_each(filter));
  }
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
        "fathom export run.fathom --format pfw -o run.pfw.gz --layers posix,stdio\n"
        "fathom export run.fathom --format html -o run.html",
    .run = run,
};

}  // namespace fathom::cli
