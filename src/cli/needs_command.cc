// SPDX-License-Identifier: MIT
// `fathom needs`: the profile of an application by recordings that exist already, however they were
// made; `fathom container run` makes the same one of its own runs.
#include <charconv>
#include <string>
#include <vector>

#include "analysis/application/profile.h"
#include "analysis/store.h"
#include "base/cell.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/profile_pages.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

constexpr double kNsPerSecond = 1e9;

struct Options {
  std::string trace, plain, output;
  std::string format = "table";
  std::string name = "app";
};

// What the recording says of its run.
Result<analysis::ContainerRun> run_of(const std::string& word, const char* kind,
                                      std::string& command) {
  analysis::ContainerRun run;
  run.kind = kind;
  FATHOM_ASSIGN(const std::string path, find_trace(word));
  FATHOM_ASSIGN(analysis::Store store, open_sums(path));
  FATHOM_ASSIGN(const std::int64_t wall_ns, store.wall_ns());
  run.recording = path;
  run.wall_s = static_cast<double>(wall_ns) / kNsPerSecond;
  FATHOM_ASSIGN(const Table table,
                store.query("SELECT key, value FROM run WHERE key IN ('exit', 'command')"));
  for (const auto& row : table.rows) {
    const std::string text = text_of(row[1]);
    if (text_of(row[0]) == "command") command = text;
    if (text_of(row[0]) == "exit")
      (void)std::from_chars(text.data(), text.data() + text.size(), run.exit);
  }
  return run;
}

std::string page_of(const analysis::Profile& profile, const Options& options) {
  if (options.format == "table") return render::profile_text(profile, render::style_for(1));
  if (options.format == "json") return render::profile_json(profile);
  if (options.format == "html") return render::profile_html(profile);
  return render::profile_patch(profile, options.name);
}

Result<int> run(Parser& parser) {
  Options options;
  parser.positional("TRACE", options.trace, kTraceHelp);
  parser.option("--plain", options.plain, "TRACE",
                "a run of the same without functions: needs are its, and the difference is what "
                "recording cost");
  parser.option("--format", options.format, "FORMAT",
                "table, json, html, or patch: requests and limits for kubectl patch");
  parser.option("--name", options.name, "NAME", "patch: the container's name (default: app)");
  parser.option("-o,--output", options.output, "FILE", "file to write (default: stdout)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  for (const char* known : {"table", "json", "html", "patch", ""}) {
    if (options.format == known) break;
    if (*known == '\0')
      return usage_error("there is no format '" + options.format + "'",
                         "formats are table, json, html, patch");
  }
  std::vector<analysis::ContainerRun> runs;
  std::string command;
  FATHOM_ASSIGN(analysis::ContainerRun probed, run_of(options.trace, analysis::kProbed, command));
  runs.push_back(std::move(probed));
  if (!options.plain.empty()) {
    FATHOM_ASSIGN(analysis::ContainerRun plain, run_of(options.plain, analysis::kPlain, command));
    runs.push_back(std::move(plain));
  }
  FATHOM_ASSIGN(analysis::Profile profile, analysis::application_profile(runs));
  profile.title = command.empty() ? options.trace : command;
  profile.facts = {{"recording", options.trace}};
  const std::string text = page_of(profile, options);
  FATHOM_TRY(options.output.empty() ? print(text) : write_file_atomic(options.output, text));
  return 0;
}

}  // namespace

extern const CommandDef kNeedsCommand;
const CommandDef kNeedsCommand = {
    .name = "needs",
    .summary = "Show what an application needs: CPU, memory, disk, network, and its functions",
    .usage = "[OPTION…] TRACE",
    .example =
        "fathom needs run.fathom\n"
        "fathom needs run.fathom --plain quiet.fathom --format html -o profile.html\n"
        "fathom needs run.fathom --format patch --name web -o limits.yaml",
    .run = run,
};

}  // namespace fathom::cli
