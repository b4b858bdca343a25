// SPDX-License-Identifier: MIT
// `fathom needs`: the profile of an application by recordings that exist already, however they were
// made; `fathom container run` makes the same one of its own runs. Several are compared in one
// table.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "analysis/application/comparison.h"
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
  std::vector<std::string> words;
  std::string plain, output, name;
  std::string format = "table";
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

bool is_folder_of_results(const std::string& word) {
  return is_directory(word) && path_exists(join_path(word, analysis::kProfileFile));
}

Result<analysis::Profile> profile_of_recordings(const std::string& word, const std::string& plain) {
  std::vector<analysis::ContainerRun> runs;
  std::string command;
  FATHOM_ASSIGN(analysis::ContainerRun probed, run_of(word, analysis::kProbed, command));
  runs.push_back(std::move(probed));
  if (!plain.empty()) {
    FATHOM_ASSIGN(analysis::ContainerRun other, run_of(plain, analysis::kPlain, command));
    runs.push_back(std::move(other));
  }
  FATHOM_ASSIGN(analysis::Profile profile, analysis::application_profile(runs));
  profile.title = command.empty() ? word : command;
  profile.facts = {{"recording", word}};
  return profile;
}

// What `fathom container run` left: its recordings, and how its runs ended.
Result<analysis::Profile> profile_of_folder(const std::string& folder) {
  FATHOM_ASSIGN(analysis::ProfileFigures figures, analysis::load_figures(folder));
  for (analysis::ContainerRun& run : figures.runs) {
    if (!run.recording.empty()) run.recording = join_path(folder, run.recording);
  }
  FATHOM_ASSIGN(analysis::Profile profile, analysis::application_profile(figures.runs));
  profile.title = figures.title;
  profile.facts = {{"results", folder}};
  return profile;
}

Result<analysis::Profile> profile_of(const std::string& word, const std::string& plain) {
  if (is_folder_of_results(word) && plain.empty()) return profile_of_folder(word);
  return profile_of_recordings(word, plain);
}

std::string page_of(const analysis::Profile& profile, const Options& options) {
  if (options.format == "table") return render::profile_text(profile, render::style_for(1));
  if (options.format == "json") return render::profile_json(profile);
  if (options.format == "html") return render::profile_html(profile);
  return render::profile_patch(profile, options.name);
}

Result<std::string> compare(const Options& options) {
  if (!options.plain.empty())
    return usage_error("--plain works with one recording only",
                       "compare folders of results instead");
  std::vector<analysis::ProfileFigures> all;
  for (const std::string& word : options.words) {
    if (is_folder_of_results(word) || word.ends_with(".json")) {
      FATHOM_ASSIGN(analysis::ProfileFigures figures, analysis::load_figures(word));
      all.push_back(std::move(figures));
    } else {
      FATHOM_ASSIGN(const analysis::Profile profile, profile_of(word, ""));
      all.push_back(analysis::figures_of(profile));
    }
    all.back().name = word;
  }
  FATHOM_ASSIGN(const render::Format format, render::parse_format(options.format));
  return render::render(analysis::comparison_table(all), format, render::style_for(1));
}

// Formats of one, and of several.
Status check_format(const Options& options) {
  const std::vector<std::string> known =
      options.words.size() > 1 ? std::vector<std::string>{"table", "json", "csv", "md"}
                               : std::vector<std::string>{"table", "json", "html", "patch"};
  if (std::ranges::find(known, options.format) != known.end()) return {};
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  return usage_error("there is no format '" + options.format + "' here", "use " + names);
}

Result<int> run(Parser& parser) {
  Options options;
  parser.positionals("TRACE", options.words,
                     std::string(kTraceHelp) +
                         ", or a folder of results of 'fathom container run'; several are compared "
                         "in one table");
  parser.option("--plain", options.plain, "TRACE",
                "a run recorded without functions; its needs are used, and the difference is the "
                "overhead");
  parser.option("--format", options.format, "FORMAT",
                "table, json, html, or patch: requests and limits for kubectl patch; of several "
                "table, json, csv or md");
  parser.option("--name", options.name, "NAME",
                "patch: the name of the container and of its deployment (default: app)");
  parser.option("-o,--output", options.output, "FILE", "file to write (default: stdout)");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_TRY(check_format(options));
  std::string text;
  if (options.words.size() > 1) {
    FATHOM_ASSIGN(text, compare(options));
  } else {
    FATHOM_ASSIGN(const analysis::Profile profile, profile_of(options.words[0], options.plain));
    text = page_of(profile, options);
  }
  FATHOM_TRY(options.output.empty() ? print(text) : write_file_atomic(options.output, text));
  return 0;
}

}  // namespace

extern const CommandDef kNeedsCommand;
const CommandDef kNeedsCommand = {
    .name = "needs",
    .summary = "Show what an application needs: CPU, memory, disk, network, and its functions",
    .usage = "[OPTION…] TRACE…",
    .example =
        "fathom needs run.fathom\n"
        "fathom needs results-small results-large\n"
        "fathom needs run.fathom --plain quiet.fathom --format html -o profile.html\n"
        "fathom needs run.fathom --format patch --name web -o limits.yaml",
    .run = run,
};

}  // namespace fathom::cli
