// SPDX-License-Identifier: MIT
// `fathom run`: options, the live line and the closing summary. Recording itself is session's
// run.cc, and the program's exit status is ours.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/files.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parser.h"
#include "cli/run_summary.h"
#include "cli/share_option.h"
#include "cli/tell.h"
#include "convert/alnair_files.h"
#include "session/environment.h"
#include "session/place.h"
#include "session/run/program.h"
#include "session/run/run.h"
#include "wire/exec.h"

namespace fathom::cli {
namespace {

constexpr double kMostHz = 1000;

struct Arguments {
  session::RunOptions options;
  std::string spool_max, when_full = "drop", exit_code = "shell", interval, ring, share;
  std::int64_t rows = 0;
  bool quiet = false;
};

void parse_python(Parser& parser, session::PythonOptions& python) {
  parser.option("--python-modules", python.modules, "M,…",
                "of layer python, only functions of these modules; -M leaves one out");
  parser.option("--python-paths", python.paths, "P,…",
                "only functions of source files at or below these paths; -P leaves one out");
  parser.option("--python-depth", python.depth, "N", "only the N outermost functions");
  parser.option("--python-min", python.min, "TIME", "only functions that took this long (10us)");
  parser.flag("--python-c", python.c_calls, "functions of C that Python calls, too");
  parser.option("--python-loops", python.loops, "M,…",
                "loops of these modules as events ('*': all); Python 3.12 and later");
  parser.option("--python-turns", python.turns, "N", "and the first N turns of each loop");
}

void parse_gpu(Parser& parser, session::GpuOptions& gpu) {
  parser.flag("--gpu-waits", gpu.waits, "of layer gpu, also rows of waiting, which cost more");
  parser.option("--gpu-graphs", gpu.graphs, "HOW",
                "nodes: a row for each kernel of a graph; whole: for each launch of it (nodes)");
  parser.option("--gpu-range", gpu.range, "WHEN",
                "all; profiler: from cuProfilerStart to cuProfilerStop (all)");
  parser.option("--gpu-sample", gpu.sample, "N", "without CUPTI, one launch of N is timed (32)");
  parser.option("--cupti", gpu.cupti, "FILE", "this CUPTI; none: do without (one that is found)");
}

void parse_kernel(Parser& parser, Arguments& a) {
  parser.option("--interval", a.interval, "TIME",
                "how long the kernel adds calls up before they become a row (1s)");
  parser.option("--detail", a.options.detail, "L,…",
                "layers of the kernel that also record every single call");
  parser.option("--functions", a.options.functions, "F,…",
                "of layer user: PATH:NAME, PATH:REGEX or usdt:PATH:PROVIDER:NAME");
  parser.flag("--returns", a.options.returns,
              "times of all these functions: programs that throw, and those of Go, may end by it");
  parser.option("--categories", a.options.categories, "C=F,…",
                "of these functions: CATEGORY=NAME, CATEGORY=REGEX or CATEGORY=PATH:REGEX");
  parser.option("--filter", a.options.filters, "F,…",
                "of layers of the kernel, only: [LAYER:]path=PATH, call=NAME, min=TIME, one-in=N; "
                "cgroup=DIR");
  parser.option("--kernel-ring", a.ring, "SIZE",
                "of the kernel's memory for single calls that wait for us (16M)");
  parser.option("--kernel-rows", a.rows, "N", "rows of sums that wait for us (262144)");
}

// The kernel wants a power of two, of whole pages.
Status read_room(Arguments& a) {
  constexpr std::uint64_t kLeast = 1U << 16U;
  constexpr std::uint64_t kMost = 1U << 30U;
  constexpr std::int64_t kMostRows = 1 << 24;
  if (!a.ring.empty()) {
    const Result<std::uint64_t> bytes = parse_bytes(a.ring);
    if (!bytes || *bytes < kLeast || *bytes > kMost)
      return usage_error("--kernel-ring '" + a.ring + "' is no size from 64K to 1G",
                         "write it as 64M");
    a.options.ring_bytes = static_cast<std::uint32_t>(std::bit_ceil(*bytes));
  }
  if (a.rows < 0 || a.rows > kMostRows)
    return usage_error("--kernel-rows takes a number up to " + std::to_string(kMostRows));
  a.options.rows = static_cast<std::uint32_t>(a.rows);
  return {};
}

Status read_kernel_options(Arguments& a) {
  constexpr std::int64_t kShortest = 1'000'000;
  FATHOM_TRY(read_room(a));
  if (a.interval.empty()) return {};
  const Result<std::int64_t> ns = parse_duration(a.interval);
  if (!ns || *ns < kShortest)
    return usage_error("--interval '" + a.interval + "' is no time from 1 ms up",
                       "write it as 100ms or 1s");
  a.options.interval_ns = *ns;
  return {};
}

// The variable that the library reads where nobody supervises means the same here.
Status read_spool_max(Arguments& a) {
  const char* variable = std::getenv(FATHOM_SPOOL_MAX_VARIABLE);  // NOLINT(concurrency-mt-unsafe)
  const bool given = !a.spool_max.empty();
  if (!given && variable == nullptr) return {};
  const std::string text = given ? a.spool_max : variable;
  const Result<std::uint64_t> bytes = parse_bytes(text);
  if (!bytes || (given && *bytes == 0)) {
    const std::string name = given ? "--spool-max" : FATHOM_SPOOL_MAX_VARIABLE;
    return usage_error(name + " '" + text + "' is not a size", "write it as 512M or 4G");
  }
  a.options.spool_max = *bytes;
  return {};
}

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.tail("COMMAND", a.options.command, "the program and its arguments");
  parser.option("-o,--output", a.options.output, "DIR",
                "the recording's directory (fathom-<program>-<time>.fathom); %r stands for the "
                "rank, %h for the host, %p for our process, %% for %");
  parser.flag("--force", a.options.force,
              "replace a recording that is there, unless somebody still writes it");
  parser.option(
      "--exit-code", a.exit_code, "HOW",
      "of a program that signal N ended: shell: we end with 128 + N; signal: we end by N, "
      "too (shell)");
  parser.flag("-q,--quiet", a.quiet, "no word of ours on stderr");
  declare_share(parser, a.share);
  parser.flag("--no-command", a.options.no_command,
              "leave arguments and environment of programs out of the recording");
  parser.option("--layers", a.options.layers, "L,…",
                "just these layers; +L,… adds to app,stdio,posix,resource");
  parser.option("--paths", a.options.paths, "P,…", "only I/O on files at or below these paths");
  parser.option("--calls", a.options.calls, "C,…", "only these calls; -C leaves one out");
  parse_python(parser, a.options.python);
  parse_gpu(parser, a.options.gpu);
  parser.option("--spool-max", a.spool_max, "SIZE",
                "most bytes that wait to be packed (4G, or half of what is free)");
  parser.option("--when-full", a.when_full, "HOW",
                "drop: count what is lost; block: wait for room (drop)");
  parser.option("--sample-resources,--hz", a.options.hz, "HZ",
                "samples of resources a second (10)");
  parse_kernel(parser, a);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return false;
  FATHOM_TRY(read_kernel_options(a));
  FATHOM_ASSIGN(a.options.output, session::expand_name(a.options.output));
  if (a.exit_code != "shell" && a.exit_code != "signal")
    return usage_error("--exit-code is shell or signal, not '" + a.exit_code + "'");
  FATHOM_ASSIGN(a.options.share, shared_group(parser, a.share));
  a.options.no_command = a.options.no_command || session::wants_no_command();
  if (a.when_full != "drop" && a.when_full != "block") {
    return usage_error("--when-full is drop or block, not '" + a.when_full + "'");
  }
  a.options.block_when_full = a.when_full == "block";
  if (!(a.options.hz > 0 && a.options.hz <= kMostHz)) {
    return usage_error(
        fmt::format("--sample-resources takes more than 0 and at most {} a second", kMostHz));
  }
  FATHOM_TRY(read_spool_max(a));
  return true;
}

std::string live_line(const session::LiveState& state, double events_per_second) {
  const session::Flow& flow = state.flow;
  std::string line = fmt::format("fathom: {}", human_ns(static_cast<double>(state.elapsed_ns)));
  if (flow.processes > 0) {
    line += fmt::format("  {} {}", flow.processes, flow.processes == 1 ? "process" : "processes");
  }
  line += fmt::format("  {} events  {}/s  {}", human_count(static_cast<double>(flow.events)),
                      human_count(events_per_second), human_bytes(static_cast<double>(flow.bytes)));
  return line + fmt::format("  {} lost", human_count(static_cast<double>(flow.lost)));
}

// Shows how the run goes, on a terminal only.
class LiveLine {
 public:
  void show(const session::LiveState& state) {
    if (!progress_.due()) return;
    const std::int64_t span = state.elapsed_ns - last_.elapsed_ns;
    if (span >= 1'000'000'000) {
      const auto more =
          static_cast<double>(state.flow.events) - static_cast<double>(last_.flow.events);
      rate_ = std::max(0.0, more * 1e9 / static_cast<double>(span));
      last_ = state;
    }
    progress_.show(live_line(state, rate_));
  }
  void clear() { progress_.clear(); }

 private:
  Progress progress_;
  session::LiveState last_;
  double rate_ = 0;
};

std::string packing_line(const session::PackingState& state) {
  return fmt::format("fathom: packing, {} of {} events",
                     human_count(static_cast<double>(state.packed)),
                     human_count(static_cast<double>(state.all)));
}

// What is left to say when everything is over.
void tell_outcome(const session::RunOutcome& outcome) {
  if (outcome.trouble) {
    Error error = *outcome.trouble;
    error.hint = "what was recorded is kept in " + outcome.directory;
    tell(error);
  } else if (outcome.interrupted) {
    tell({Code::kIo, "packing was interrupted, and nothing is lost",
          "the recording can be used as it is; fathom collect packs the rest"});
  }
}

void tell_all(const session::RunOutcome& outcome, bool quiet) {
  if (outcome.not_started) {
    tell(*outcome.not_started);
  } else if (!quiet) {
    tell_outcome(outcome);
  }
  if (outcome.rows_trouble) tell(*outcome.rows_trouble);
}

session::RunHooks hooks_for(LiveLine& line, Progress& packing) {
  return {.live = [&line](const session::LiveState& state) { line.show(state); },
          .ended =
              [&line](const session::Ended& ended) {
                line.clear();
                print_beside(run_summary(ended));
              },
          .packing =
              [&line, &packing](const session::PackingState& state) {
                line.clear();
                if (packing.due()) packing.show(packing_line(state));
              }};
}

// Alnair's logs, for scripts that look for them where PFLOG says while the program runs.
Status add_alnair_logs(session::RunHooks& hooks) {
  const std::string named = session::alnair_folder();
  if (named.empty()) return {};
  FATHOM_ASSIGN(const std::string folder, absolute_path(named));
  hooks.rows_layer = "cuda";
  const auto place_of = [folder](const session::StreamProcess&) {
    return std::optional(convert::DropInPlace{.log = folder});
  };
  hooks.rows = [place_of](const std::string& /*directory*/, std::int64_t start_ns) {
    return convert::alnair_files("", start_ns, place_of);
  };
  return {};
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  LiveLine line;
  Progress packing;
  session::RunHooks hooks;
  if (!arguments.quiet) hooks = hooks_for(line, packing);
  FATHOM_TRY(add_alnair_logs(hooks));
  FATHOM_ASSIGN(const session::RunOutcome outcome, session::run(arguments.options, hooks));
  try {
    line.clear();
    packing.clear();
    tell_all(outcome, arguments.quiet);
  } catch (const std::exception&) {
    // Words for which there is no memory do not change what the program's status is.
  }
  if (outcome.signal != 0 && arguments.exit_code == "signal") session::end_by(outcome.signal);
  return outcome.exit_status;
}

}  // namespace

extern const CommandDef kRunCommand;
const CommandDef kRunCommand = {
    .name = "run",
    .summary = "Runs a program, records it, and says where the time went",
    .usage = "[OPTION…] [--] COMMAND [ARGUMENT…]",
    .example =
        "fathom run -- ./simulate input.dat\nfathom run -o sort.fathom --layers posix,resource -- "
        "sort big.txt\nfathom run --layers +python --python-modules train -- python3 train.py",
    .run = run,
};

}  // namespace fathom::cli
