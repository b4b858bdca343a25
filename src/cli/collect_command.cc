// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/drop_in_files.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "session/collect.h"
#include "trace/trust.h"

namespace fathom::cli {
namespace {

// Programs that were made for another tool want its files. A recording that nobody named has done
// its work with them.
Result<bool> is_done_with_files(const std::string& directory) {
  if (!session::wants_stream(directory)) return false;
  FATHOM_ASSIGN(const session::StreamOutcome outcome, write_drop_in_files(directory));
  return outcome.interrupted || outcome.writers_alive || outcome.spent;
}

Result<int> run(Parser& parser) {
  session::CollectOptions options;
  bool quiet = false;
  parser.positional("DIR", options.directory,
                    "the recording's directory (FATHOM_OUT of the programs)");
  parser.flag("--follow", options.follow, "wait for programs to come, until Ctrl-C");
  parser.option("--sample-resources,--hz", options.hz, "HZ", "samples of resources a second (10)");
  parser.flag("-q,--quiet", quiet, "no word of ours on stderr");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return 0;
  if (Status own = trace::check_owner(options.directory);
      !own && own.error().code != Code::kNotFound)
    return std::move(own).error();
  FATHOM_ASSIGN(const bool done, is_done_with_files(options.directory));
  if (done) return 0;
  Progress progress;
  const auto live = [&](const session::Flow& flow) {
    if (quiet || !progress.due()) return;
    progress.show(fmt::format(
        "fathom: {} events  {}  {} lost", human_count(static_cast<double>(flow.events)),
        human_bytes(static_cast<double>(flow.bytes)), human_count(static_cast<double>(flow.lost))));
  };
  FATHOM_ASSIGN(const session::CollectOutcome outcome, session::collect(options, live));
  progress.clear();
  if (outcome.trouble) return *outcome.trouble;
  if (!quiet && outcome.writers_alive) {
    tell({Code::kIo, "programs still record into " + options.directory,
          "collect again when they have ended"});
  }
  return 0;
}

}  // namespace

extern const CommandDef kCollectCommand;
const CommandDef kCollectCommand = {
    .name = "collect",
    .summary =
        "Packs what programs record that were started without 'fathom run', until they have ended, "
        "or what an interrupted recorder left",
    .usage = "[OPTION…] DIR",
    .example =
        "LD_PRELOAD=/usr/lib/libfathom.so FATHOM_OUT=$PWD/job.fathom mpirun ./simulate &\n"
        "fathom collect job.fathom",
    .run = run,
};

}  // namespace fathom::cli
