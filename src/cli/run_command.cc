// SPDX-License-Identifier: MIT
// `fathom run`: options, the live line and the closing summary. Recording itself is session's
// run.cc, and the program's exit status is ours. Options are first declared (`declare…`, which also
// makes help, manual pages and completions), then checked and turned into what session takes.
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/brackets.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hz_option.h"
#include "cli/parser.h"
#include "cli/recorder_words.h"
#include "cli/share_option.h"
#include "cli/tell.h"
#include "convert/alnair_files.h"
#include "session/attach/attach.h"
#include "session/environment.h"
#include "session/place.h"
#include "session/run/program.h"
#include "session/run/run.h"
#include "trace/rows/layers.h"
#include "wire/exec.h"

namespace fathom::cli {
namespace {

struct Arguments {
  session::RunOptions options;
  std::string spool_max, when_full = "drop", exit_code = "shell", interval, ring, share, container;
  std::int64_t rows = 0;
  bool quiet = false;
};

void declare_python(Parser& parser, session::PythonOptions& python) {
  parser.option("--python-modules", python.modules, "M,…",
                "layer python: only functions of these modules; -M excludes one");
  parser.option(
      "--python-paths", python.paths, "P,…",
      "layer python: only functions in source files at or below these paths; -P excludes one");
  parser.option("--python-depth", python.depth, "N",
                "layer python: only the N outermost levels of calls");
  parser.option("--python-min", python.min, "TIME",
                "layer python: only functions that took at least this long, e.g. 10us");
  parser.flag("--python-c", python.c_calls, "layer python: also C functions that Python calls");
  parser.option("--python-loops", python.loops, "M,…",
                "layer python: also loops in these modules ('*' for all)");
  parser.option("--python-turns", python.turns, "N",
                "layer python: also the first N iterations of each loop");
}

void declare_gpu(Parser& parser, session::GpuOptions& gpu) {
  parser.flag("--gpu-waits", gpu.waits, "layer gpu: also record waits, which costs more");
  parser.option("--gpu-graphs", gpu.graphs, "HOW",
                "layer gpu: record each kernel of a CUDA graph (nodes, the default) or each graph "
                "launch (whole)");
  parser.option("--gpu-range", gpu.range, "WHEN",
                "layer gpu: record the whole run (all, the default), or from cuProfilerStart to "
                "cuProfilerStop (profiler)");
  parser.option("--gpu-sample", gpu.sample, "N",
                "layer gpu: without CUPTI, time one launch in N (default: 32)");
  parser.option("--cupti", gpu.cupti, "FILE",
                "layer gpu: the CUPTI library to use, or none (default: search for it)");
}

// What is recorded where nobody names layers.
std::string usual_layers() {
  std::vector<std::string> names;
  for (const trace::LayerDef& layer : trace::kLayers) {
    if (layer.by_default) names.emplace_back(layer.name);
  }
  return join(names, ",");
}

void declare_kernel(Parser& parser, Arguments& a) {
  parser.option("--interval", a.interval, "TIME",
                "kernel layers: length of the intervals over which calls are summed (default: 1s); "
                "also applies to --count");
  parser.option("--detail", a.options.detail, "L,…",
                "kernel layers that also record an event for every call");
  parser.option("--functions", a.options.functions, "F,…",
                "layers user and kernel: functions to probe, as PATH:NAME, PATH:REGEX, "
                "usdt:PATH:PROVIDER:NAME, kernel:NAME or tracepoint:NAME");
  parser.flag(
      "--returns", a.options.returns,
      "layer user: time every function; can crash Go programs and programs that throw exceptions");
  parser.option("--categories", a.options.categories, "C=F,…",
                "layer user: categories of functions, as CATEGORY=NAME, CATEGORY=REGEX or "
                "CATEGORY=PATH:REGEX");
  parser.option("--filter", a.options.filters, "F,…",
                "kernel layers: only calls that match [LAYER:]path=PATH, call=NAME, min=TIME, "
                "one-in=N; cgroup=DIR");
  parser.option("--kernel-ring", a.ring, "SIZE",
                "kernel layers: size of the ring buffer for single calls (default: 16M)");
  parser.option("--kernel-rows", a.rows, "N",
                "kernel layers: number of sums that fit into kernel memory (default: 262144)");
}

void declare_sampling(Parser& parser, Arguments& a) {
  parser.option("--sample", a.options.sample_hz, "HZ",
                "layer cpu: samples per second of CPU time (default: 99); 0 turns the layer off");
  parser.option("--sample-event", a.options.sample_event, "E",
                "layer cpu: sample this event of perf instead of CPU time, e.g. page-faults");
  parser.option(
      "--count", a.options.count, "E,…",
      "layer cpu: count these events of perf for each process, every --interval (default: "
      "100ms)");
  parser.option("--region-events", a.options.region_events, "E,…",
                "layers app and python: count these events on every region and Python function, "
                "e.g. task-clock,page-faults");
}

Status check_sampling(const Arguments& a) {
  constexpr double kMostHz = 100'000;
  if (a.options.sample_hz >= 0 && a.options.sample_hz <= kMostHz) return {};
  return usage_error(fmt::format("--sample must be from 0 to {}", kMostHz));
}

// The kernel wants a power of two, of whole pages.
Status read_room(Arguments& a) {
  constexpr std::uint64_t kLeast = 1U << 16U;
  constexpr std::uint64_t kMost = 1U << 30U;
  constexpr std::int64_t kMostRows = 1 << 24;
  if (!a.ring.empty()) {
    const Result<std::uint64_t> bytes = parse_bytes(a.ring);
    if (!bytes || *bytes < kLeast || *bytes > kMost)
      return usage_error("--kernel-ring '" + a.ring + "' is not a size from 64K to 1G",
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
  a.options.functions = join_in_brackets(a.options.functions);
  a.options.categories = join_in_brackets(a.options.categories);
  if (a.interval.empty()) return {};
  const Result<std::int64_t> ns = parse_duration(a.interval);
  if (!ns || *ns < kShortest)
    return usage_error("--interval '" + a.interval + "' is not a time of at least 1 ms",
                       "write it as 100ms or 1s");
  a.options.interval_ns = *ns;
  a.options.count_interval_ns = *ns;
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

Status check_whom(const Arguments& a) {
  if (a.container.empty() && a.options.command.empty())
    return usage_error("no command was given", "run 'fathom run --help' for usage");
  if (!a.container.empty() && !a.options.command.empty())
    return usage_error("--container records a container instead of a program",
                       "leave one of them out");
  return {};
}

// A container that runs already.
Result<session::RunOutcome> record_container(const Arguments& a, const session::RunHooks& hooks) {
  const session::RunOptions& options = a.options;
  return session::attach({.processes = {},
                          .container = a.container,
                          .output = options.output,
                          .force = options.force,
                          .layers = options.layers,
                          .hz = options.hz,
                          .sample_hz = options.sample_hz,
                          .sample_event = options.sample_event,
                          .count = options.count,
                          .share = options.share,
                          .no_command = options.no_command},
                         hooks);
}

// What becomes of the recording, and of the program's status.
void declare_outcome(Parser& parser, Arguments& a) {
  parser.option("-o,--output", a.options.output, "DIR",
                "directory of the recording; %r is the rank, %h the host, %p the process ID of "
                "fathom run, %% a percent sign (default: fathom-<program>-<time>.fathom)");
  parser.flag("--force", a.options.force,
              "replace an existing recording, unless it is still being written");
  parser.option("--exit-code", a.exit_code, "HOW",
                "if signal N kills the program: exit with 128 + N (shell, the default), or die by "
                "the same signal (signal)");
  parser.flag("-q,--quiet", a.quiet, "print no messages from Fathom");
  declare_share(parser, a.share);
  parser.flag("--no-command", a.options.no_command,
              "do not store the arguments and environment of programs");
}

// Which layers, and which of their calls.
void declare_selection(Parser& parser, Arguments& a) {
  parser.option("--layers", a.options.layers, "L,…",
                "layers to record; +L,… adds to the default (default: " + usual_layers() + ")");
  parser.option("--paths", a.options.paths, "P,…", "only I/O on files at or below these paths");
  parser.option("--calls", a.options.calls, "C,…", "only these calls; -C excludes one");
}

void declare_room(Parser& parser, Arguments& a) {
  parser.option(
      "--spool-max", a.spool_max, "SIZE",
      "disk space for events that are not packed yet (default: 4G, or half of the free space)");
  parser.option(
      "--when-full", a.when_full, "HOW",
      "if that space is full: drop events and count them (drop, the default), or make the "
      "program wait (block)");
}

// In the order of --help.
void declare(Parser& parser, Arguments& a) {
  parser.optional_tail("COMMAND", a.options.command, "the program and its arguments");
  parser.option("--container", a.container, "ID",
                "record a running container from outside until it ends, instead of starting a "
                "program (default layers: cpu,resource)");
  declare_outcome(parser, a);
  declare_selection(parser, a);
  declare_python(parser, a.options.python);
  declare_gpu(parser, a.options.gpu);
  declare_room(parser, a);
  declare_hz(parser, a.options.hz);
  declare_sampling(parser, a);
  declare_kernel(parser, a);
}

// Checks what was given, and turns texts into what session takes.
Status settle(const Parser& parser, Arguments& a) {
  FATHOM_TRY(check_whom(a));
  FATHOM_TRY(check_sampling(a));
  FATHOM_TRY(read_kernel_options(a));
  FATHOM_ASSIGN(a.options.output, session::expand_name(a.options.output));
  if (a.exit_code != "shell" && a.exit_code != "signal")
    return usage_error("--exit-code must be shell or signal, not '" + a.exit_code + "'");
  FATHOM_ASSIGN(a.options.share, shared_group(parser, a.share));
  a.options.no_command = a.options.no_command || session::wants_no_command();
  if (a.when_full != "drop" && a.when_full != "block") {
    return usage_error("--when-full must be drop or block, not '" + a.when_full + "'");
  }
  a.options.block_when_full = a.when_full == "block";
  FATHOM_TRY(check_hz(a.options.hz));
  return read_spool_max(a);
}

// false: there is nothing to run, --help or a description was asked for.
Result<bool> parse(Parser& parser, Arguments& a) {
  declare(parser, a);
  FATHOM_ASSIGN(const bool go_on, parser.parse());
  if (!go_on) return false;
  FATHOM_TRY(settle(parser, a));
  return true;
}

void tell_all(const session::RunOutcome& outcome, bool quiet) {
  if (outcome.not_started) {
    tell(*outcome.not_started);
  } else if (!quiet) {
    tell_outcome(outcome);
  }
  if (outcome.rows_trouble) tell(*outcome.rows_trouble);
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
  RecorderWords words;
  session::RunHooks hooks;
  if (!arguments.quiet) hooks = words.hooks();
  FATHOM_TRY(add_alnair_logs(hooks));
  FATHOM_ASSIGN(const session::RunOutcome outcome, arguments.container.empty()
                                                       ? session::run(arguments.options, hooks)
                                                       : record_container(arguments, hooks));
  try {
    words.clear();
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
    .summary = "Run a program, record it, and show where the time went",
    .usage = "[OPTION…] [--] COMMAND [ARGUMENT…]",
    .example =
        "fathom run -- ./simulate input.dat\nfathom run -o sort.fathom --layers posix,resource -- "
        "sort big.txt\nfathom run --layers +python --python-modules train -- python3 train.py\n"
        "fathom run -o web.fathom --container 3f2a9c1b7d40",
    .run = run,
};

}  // namespace fathom::cli
