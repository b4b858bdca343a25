// SPDX-License-Identifier: MIT
// `fathom collect`: files for other tools first, then packing. Where such files go comes from the
// command line or from private wishes, never from the spool.
#include <fmt/format.h>

#include "base/files.h"
#include "base/plural.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hz_option.h"
#include "cli/parser.h"
#include "cli/share_option.h"
#include "cli/tell.h"
#include "convert/drop_in_files.h"
#include "session/drop_in_wishes.h"
#include "session/run/collect.h"
#include "trace/recording/trust.h"

namespace fathom::cli {
namespace {

Error files_not_written() {
  return {Code::kNotFound, "programs asked for DFTracer or Alnair files, but none were written",
          "requests by other users or machines are ignored; name a place with --dftracer LOG or "
          "--alnair DIR"};
}

Error may_still_record(const std::string& where, const std::string& directory) {
  return {Code::kIo, "programs of " + where + " may still record into " + directory,
          "run fathom collect there, or use --ended once they have ended"};
}

// Named by the user; the collector's working directory may become another one.
Status make_absolute(convert::DropInOptions& options) {
  for (std::string* path : {&options.dftracer, &options.alnair}) {
    if (path->empty()) continue;
    FATHOM_ASSIGN(*path, absolute_path(*path));
  }
  return {};
}

// Programs that were made for another tool want its files. A recording that was for them alone has
// done its work then. What it says itself about where they go is not believed.
Result<bool> is_done_with_files(const std::string& directory, const session::DropInWishes& wishes,
                                const convert::DropInOptions& options, bool quiet) {
  const bool named = !options.dftracer.empty() || !options.alnair.empty();
  if (!session::has_stream(directory)) {
    if (!named) return false;
    return Error{Code::kNotFound,
                 directory + " is packed already, so these files cannot be written from it",
                 "use fathom export"};
  }
  if (!wishes.any() && !named) {
    if (!quiet && session::wants_stream(directory)) tell(files_not_written());
    return false;
  }
  FATHOM_ASSIGN(const convert::DropInOutcome outcome,
                convert::write_drop_in_files(directory, wishes, options));
  if (outcome.some_missing && !quiet) tell(files_not_written());
  if (outcome.stream.unseen && !quiet) tell(may_still_record("another container", directory));
  return outcome.stream.interrupted || outcome.stream.writers_alive || outcome.stream.spent;
}

struct Arguments {
  session::CollectOptions options;
  convert::DropInOptions files;
  std::string share;
  bool quiet = false;
};

// false: there is nothing to collect, --help or a description was asked for.
Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("DIR", a.options.directory,
                    "directory of the recording (FATHOM_OUT of the programs)");
  parser.flag("--follow", a.options.follow, "keep waiting for new programs until Ctrl-C");
  parser.flag("--ended", a.options.ended,
              "assume that all programs have ended; needed if they ran on another machine or in "
              "another container");
  declare_hz(parser, a.options.hz);
  declare_share(parser, a.share);
  parser.option("--dftracer", a.files.dftracer, "LOG",
                "write DFTracer files as LOG-… for programs that asked for them");
  parser.option("--alnair", a.files.alnair, "DIR",
                "write Alnair logs to DIR for programs that asked for them");
  parser.flag("-q,--quiet", a.quiet, "print no messages from Fathom");
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return false;
  FATHOM_TRY(check_hz(a.options.hz));
  FATHOM_ASSIGN(a.options.share, shared_group(parser, a.share));
  FATHOM_TRY(make_absolute(a.files));
  a.files.ended = a.options.ended;
  return true;
}

// With a line that says how far it is.
Result<session::CollectOutcome> collect(const Arguments& a) {
  Progress progress;
  const auto live = [&](const session::Flow& flow) {
    if (a.quiet || !progress.due()) return;
    progress.show(fmt::format(
        "fathom: {}  {}  {} lost", counted_roughly(static_cast<double>(flow.events), "event"),
        human_bytes(static_cast<double>(flow.bytes)), human_count(static_cast<double>(flow.lost))));
  };
  Result<session::CollectOutcome> outcome = session::collect(a.options, live);
  progress.clear();
  return outcome;
}

void tell_who_goes_on(const session::CollectOutcome& outcome, const std::string& directory) {
  if (outcome.writers_alive) {
    tell({Code::kIo, "programs still record into " + directory,
          "run fathom collect again when they have ended"});
  }
  if (!outcome.unknown_on.empty()) tell(may_still_record(outcome.unknown_on, directory));
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  const std::string& directory = arguments.options.directory;
  // Nobody's spool but our own is opened; that there is none is for collect() to say.
  if (Status own = trace::check_owner(directory); !own && own.error().code != Code::kNotFound)
    return std::move(own).error();
  const session::DropInWishes wishes = session::DropInWishes::of(directory);
  FATHOM_ASSIGN(const bool done,
                is_done_with_files(directory, wishes, arguments.files, arguments.quiet));
  if (done) return 0;
  FATHOM_ASSIGN(const session::CollectOutcome outcome, collect(arguments));
  if (outcome.trouble) return *outcome.trouble;
  // A wish lives as long as there is something that it can be granted from.
  if (!session::has_stream(directory)) wishes.remove();
  if (!arguments.quiet) tell_who_goes_on(outcome, directory);
  return 0;
}

}  // namespace

extern const CommandDef kCollectCommand;
const CommandDef kCollectCommand = {
    .name = "collect",
    .summary =
        "Pack what programs record without 'fathom run', or what an interrupted run left behind",
    .usage = "[OPTION…] DIR",
    .example =
        "LD_PRELOAD=/usr/lib/libfathom.so FATHOM_OUT=$PWD/job.fathom mpirun ./simulate &\n"
        "fathom collect job.fathom",
    .run = run,
};

}  // namespace fathom::cli
