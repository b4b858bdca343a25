// SPDX-License-Identifier: MIT
// `fathom job`: finds the action, checks that its options mean something to it, and opens the
// store.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fleet/job_arguments.h"
#include "cli/fleet/store_options.h"
#include "cli/parser.h"

namespace fathom::cli {
namespace {

// Options are declared once for all actions, since one parser reads them; which of them mean
// something to an action stands here.
constexpr std::string_view kOfCreate[] = {"--info"};
constexpr std::string_view kOfList[] = {"--format", "--safe-csv"};
constexpr std::string_view kOfShow[] = {"--profile", "--benchmarks", "--kind",   "--trend",
                                        "--file",    "--top",        "--format", "--safe-csv"};
constexpr std::string_view kOfCompare[] = {"--kind", "--format", "--safe-csv"};
constexpr std::string_view kOfClear[] = {"--profile", "--benchmarks", "--kind"};
constexpr std::string_view kOfRemove[] = {"--yes"};
constexpr std::string_view kOfKind[] = {"--schema", "--format", "--safe-csv"};
constexpr std::string_view kOfAdd[] = {"--stdin"};
constexpr std::span<const std::string_view> kOfNothing;
constexpr std::string_view kOfImport[] = {"--redis"};
constexpr std::string_view kOfMove[] = {"--to"};

constexpr JobAction kActions[] = {
    {"create", "NAME [--info TEXT]", "make a job", 1, 1, kOfCreate, create_job},
    {"list", "", "list all jobs", 0, 0, kOfList, list_jobs},
    {"info", "NAME", "show the description of a job and the number of its benchmarks", 1, 1,
     kOfList, tell_job},
    {"show", "NAME [--profile|--benchmarks|--kind K|--trend] [--file F]",
     "show its profile and its benchmarks, or write them to a file", 1, 1, kOfShow, show_job},
    {"compare", "A B", "compare the benchmarks of two jobs; exit with 1 if B is slower", 2, 2,
     kOfCompare, compare_jobs},
    {"clear", "NAME [--profile]", "drop its benchmarks, or its profile", 1, 1, kOfClear, clear_job},
    {"remove", "NAME --yes", "remove a job and all its data", 1, 1, kOfRemove, remove_job},
    {"kind", "add NAME --schema FILE, or list", "register a new kind of record, or list them", 1, 2,
     kOfKind, manage_kinds},
    {"add", "NAME KIND --stdin", "add records of a kind, one JSON object per line", 2, 2, kOfAdd,
     add_to_job},
    {"recordings", "", "list the recordings that are stored with the jobs", 0, 0, kOfList,
     list_recordings},
    {"add-recording", "DIR [NAME]", "add a recording; print the name to pass to fathom report", 1,
     2, kOfNothing, add_recording_of_user},
    {"remove-recording", "NAME --yes", "remove a stored recording", 1, 1, kOfRemove,
     remove_recording},
    {"import", "NAME FILE, or --redis HOST:PORT",
     "import profiling-framework's data: a file of its dumps, or its Redis databases", 0, 2,
     kOfImport, import_jobs},
    {"move", "[NAME] --to STORE", "copy a job, or all jobs, with their data to another store", 0, 1,
     kOfMove, move_jobs},
};

const std::string_view kOptions[] = {"--info",  "--profile", "--benchmarks", "--kind",    "--trend",
                                     "--file",  "--top",     "--yes",        "--schema",  "--stdin",
                                     "--redis", "--to",      "--format",     "--safe-csv"};

void declare(Parser& parser, JobArguments& a) {
  parser.positional("ACTION", a.action, "what to do, see below");
  parser.optional_positional(
      "NAME", a.job, "the job: letters, digits, '.', '_', '-'; starts with a letter or digit");
  parser.optional_positional("OTHER", a.other, "a second job, a kind of record, or a file");
  parser.option("--info", a.info, "TEXT", "create: what the job is about");
  parser.flag("--profile", a.profile, "show, clear: the sums of its functions");
  parser.flag("--benchmarks", a.benchmarks, "show, clear: the records of its benchmarks");
  parser.option("--kind", a.kind, "KIND", "show, clear, compare: records of another kind");
  parser.flag("--trend", a.trend,
              "show: what changed over its records, and when; exit with 1 if something did");
  parser.option("--file", a.file, "FILE",
                "show: write a file: CSV or Parquet if its name ends in .csv or .parquet, else one "
                "JSON object per line, as profiling-framework writes them");
  parser.option("--top", a.top, "N", "show: at most N functions in a table (default: 30; 0: all)");
  parser.flag("--yes", a.yes, "remove: do not ask");
  parser.option("--schema", a.schema, "FILE",
                "kind add: a JSON Schema that its records must match");
  parser.flag("--stdin", a.from_stdin, "add: read the records from standard input");
  parser.option("--redis", a.redis, "HOST:PORT",
                "import: profiling-framework's main Redis (its port is 2000)");
  parser.option("--to", a.to, "STORE",
                "move: sqlite:FILE, redis://HOST:PORT/DB or redis+unix:PATH");
  declare_store(parser, a.store);
  declare_output(parser, a.format);
  std::vector<std::pair<std::string, std::string>> rows;
  for (const JobAction& action : kActions)
    rows.emplace_back(
        std::string(action.name) + (action.usage.empty() ? "" : " ") + std::string(action.usage),
        action.help);
  parser.list("Actions", rows);
}

Result<const JobAction*> find_action(const std::string& name) {
  const auto* const found =
      std::ranges::find_if(kActions, [&](const JobAction& one) { return one.name == name; });
  if (found != std::end(kActions)) return found;
  std::vector<std::string_view> names;
  for (const JobAction& action : kActions) names.push_back(action.name);
  const std::string_view near = nearest(name, names);
  return usage_error("unknown action '" + escape_control(name) + "'",
                     near.empty() ? "'fathom job --help' lists the actions"
                                  : "did you mean 'fathom job " + std::string(near) + "'?");
}

Status check_words(const Parser& parser, const JobAction& action, const JobArguments& a) {
  const int words = (parser.given("OTHER") ? 2 : parser.given("NAME") ? 1 : 0);
  const std::string usage =
      "fathom job " + std::string(action.name) + " " + std::string(action.usage);
  if (words < action.words || words > action.most_words)
    return usage_error(words < action.words ? "an argument is missing" : "too many arguments",
                       "write: " + usage);
  for (const std::string_view option : kOptions) {
    if (parser.given(std::string(option)) &&
        std::ranges::find(action.options, option) == action.options.end())
      return usage_error(std::string(option) + " means nothing to 'job " + a.action + "'",
                         "write: " + usage);
  }
  return {};
}

Result<int> run(Parser& parser) {
  JobArguments arguments;
  declare(parser, arguments);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  FATHOM_ASSIGN(const JobAction* const action, find_action(arguments.action));
  FATHOM_TRY(check_words(parser, *action, arguments));
  FATHOM_ASSIGN(arguments.output, output_of(arguments.format));
  FATHOM_ASSIGN(const std::unique_ptr<fleet::JobStore> store, open_given_store(arguments.store));
  return action->run(*store, arguments);
}

}  // namespace

extern const CommandDef kJobCommand;
const CommandDef kJobCommand = {
    .name = "job",
    .summary = "Make jobs, and show, compare and clear what agents have sent to them",
    .usage = "ACTION [NAME] [OTHER] [OPTION…]",
    .example =
        "fathom job create nightly --info 'solver, main branch'\n"
        "fathom job show nightly --profile --top 20\n"
        "fathom job show nightly --benchmarks --file runs.parquet\n"
        "fathom job compare release nightly",
    .run = run,
};

}  // namespace fathom::cli
