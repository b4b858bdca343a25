// SPDX-License-Identifier: MIT
// `fathom top`: finds what to watch, and prints it again and again where there is no terminal to
// draw on. Drawing is in top/.
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analysis/live/being_made.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "cli/top/interactive.h"
#include "cli/top/terminal.h"
#include "cli/top/top_server.h"
#include "cli/top/top_source.h"
#include "render/render.h"
#include "trace/recording/newest.h"
#include "trace/recording/recording.h"

namespace fathom::cli {
namespace {

using top::Page;
using top::TopSource;

constexpr std::int64_t kShortestNs = 100'000'000;
constexpr std::int64_t kLongestNs = 3'600'000'000'000;
constexpr int kMostWarmUps = 3;  // intervals until there are rates of all that is recorded
constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

struct Options {
  std::string trace;
  top::ServerChoice server;
  std::string interval = "1s";
  std::int64_t iterations = 0;
  bool once = false;
  std::int64_t rows = 10;
  OutputOptions output;
};

// What to watch: a server, or a recording that is being made.
// What there is to watch is found before anything is opened: a recording that has ended gets a
// sentence and no page.
struct Watched {
  bool server = false;
  std::string recording = {};
  std::string over = {};  // there is nothing to watch any more: what to say
};

std::string over_text(const std::string& recording) {
  return recording + " has ended; 'fathom report " + shell_quote(recording) +
         "' shows what it recorded";
}

Result<Watched> newest_of(const std::vector<std::string>& being_made, const std::string& where) {
  if (being_made.size() > 1)
    remark(std::to_string(being_made.size()) + " recordings are being made in " + where +
           "; this is the newest, " + being_made[0]);
  return Watched{.recording = being_made[0]};
}

Result<Watched> find_named(const std::string& word) {
  std::string path = word;
  if (word == trace::kNewestWord && !path_exists(word)) {
    FATHOM_ASSIGN(path, trace::newest_recording());
  }
  const std::vector<std::string> being_made = analysis::recordings_being_made(path);
  if (!being_made.empty()) return newest_of(being_made, path);
  if (!trace::find_recordings(path).empty()) return Watched{.over = over_text(path)};
  Result<trace::Recording> none = trace::Recording::open(path);
  return none ? Result<Watched>(Watched{.over = over_text(path)}) : std::move(none).error();
}

// Nobody named anything: what is made here, else the newest of this user, else a server.
Result<Watched> find_any() {
  const std::vector<std::string> here = analysis::recordings_being_made(".");
  if (!here.empty()) return newest_of(here, "this directory");
  const Result<std::string> newest = trace::newest_recording();
  if (newest && !analysis::writers_of(*newest).empty()) return Watched{.recording = *newest};
  if (top::has_server()) return Watched{.server = true};
  return Error{Code::kNotFound, "nothing is being recorded here",
               "'fathom run -- COMMAND' records a program, 'fathom top TRACE' watches a recording, "
               "'fathom top --server URL' a server"};
}

Result<Watched> find_watched(const Options& options) {
  const bool server = !options.server.url.empty();
  if (server && !options.trace.empty())
    return usage_error("a recording and a server cannot be watched at once", "give one of them");
  if (server) return Watched{.server = true};
  return options.trace.empty() ? find_any() : find_named(options.trace);
}

Result<std::int64_t> interval_of(const std::string& text) {
  const Result<std::int64_t> ns = parse_duration(text);
  if (!ns || *ns < kShortestNs || *ns > kLongestNs)
    return usage_error("--interval must be a time from 0.1s to 1h, not '" + text + "'");
  return *ns;
}

void sleep_ns(std::int64_t ns) {
  timespec rest{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::nanosleep(&rest, &rest) != 0) {
  }
}

// Those who read a page want the first rows, programs all of them.
void shorten(Page& page, std::size_t most) {
  for (Table& table : page.tables) {
    if (table.rows.size() <= most) continue;
    table.note = std::to_string(table.rows.size() - most) + " more; --rows shows them";
    table.rows.resize(most);
  }
}

Status print_page(Page page, const Output& output, std::int64_t rows) {
  if (output.for_people()) {
    shorten(page, static_cast<std::size_t>(rows));
    std::string text = render::sentence_text(page.title, output.format) + "\n\n";
    FATHOM_TRY(
        print(text + render::render_document(page.tables, output.format, output.style) + "\n"));
  } else {
    page.tables.insert(page.tables.begin(), page.facts);
    FATHOM_TRY(print(render::render_document(page.tables, output.format, output.style)));
  }
  if (std::fflush(stdout) == 0) return {};
  return Error{Code::kIo, "cannot write to stdout", ""};
}

Result<int> say_over(const std::string& words, const Output& output) {
  if (!output.for_people()) {
    remark(words);
    return 0;
  }
  FATHOM_TRY(print(words + "\n"));
  return 0;
}

Result<int> print_again_and_again(TopSource& source, const Options& options, const Output& output,
                                  std::int64_t interval) {
  const std::int64_t times = options.once              ? 1
                             : options.iterations == 0 ? kEndless
                                                       : options.iterations;
  FATHOM_TRY(source.look(""));
  for (int i = 0; i < kMostWarmUps && !source.has_rates() && source.page("").end.empty(); i++) {
    sleep_ns(interval);
    FATHOM_TRY(source.look(""));
  }
  for (std::int64_t i = 0; i < times; i++) {
    if (i > 0) {
      sleep_ns(interval);
      FATHOM_TRY(source.look(""));
    }
    Page page = source.page("");
    const std::string end = page.end;
    FATHOM_TRY(print_page(std::move(page), output, options.rows));
    if (!end.empty()) return say_over(end, output);
  }
  return 0;
}

Result<Options> parse(Parser& parser, bool& go_on) {
  Options options;
  parser.optional_positional(
      "TRACE", options.trace,
      "a recording that is being made, or 'last' (default: the newest one in "
      "this directory or of yours, else your server)");
  parser.option("--server", options.server.url, "URL",
                "watch the jobs of this server instead of a recording");
  parser.option("--token-file", options.server.token_file, "FILE",
                "a file with the token for the server, readable only by you (default: "
                "$FATHOM_TOKEN, else the token of your own server)");
  parser.option("--interval", options.interval, "TIME", "refresh interval (default: 1s)");
  parser.option("--iterations", options.iterations, "N",
                "print N updates as plain tables, then exit");
  parser.flag("--once", options.once, "print one update as plain tables, then exit");
  parser.option("--rows", options.rows, "N", "rows of each plain table (default: 10)");
  declare_output(parser, options.output);
  FATHOM_ASSIGN(go_on, parser.parse());
  if (!go_on) return options;
  if (parser.given("--iterations") && options.iterations < 1)
    return usage_error("--iterations must be at least 1");
  if (options.rows < 1) return usage_error("--rows must be at least 1");
  return options;
}

Result<std::unique_ptr<TopSource>> open_source(const Watched& watched, const Options& options) {
  if (watched.server) return top::watch_server(options.server);
  return top::watch_recording(watched.recording);
}

Result<int> run(Parser& parser) {
  bool go_on = false;
  FATHOM_ASSIGN(const Options options, parse(parser, go_on));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(options.output));
  FATHOM_ASSIGN(const std::int64_t interval, interval_of(options.interval));
  FATHOM_ASSIGN(const Watched watched, find_watched(options));
  if (!watched.over.empty()) return say_over(watched.over, output);
  const bool plain = options.once || options.iterations > 0 || parser.given("--format");
  if (!plain && top::has_terminal())
    return top::watch_on_terminal([&] { return open_source(watched, options); }, interval);
  FATHOM_ASSIGN(const std::unique_ptr<TopSource> source, open_source(watched, options));
  return print_again_and_again(*source, options, output, interval);
}

}  // namespace

extern const CommandDef kTopCommand;
const CommandDef kTopCommand = {
    .name = "top",
    .summary = "Show what runs now: processes, hot functions, calls and waits as they come",
    .usage = "[OPTION…] [TRACE]",
    .example =
        "fathom top\nfathom top sort.fathom --interval 2s\nfathom top last --once --format json\n"
        "fathom top --server http://127.0.0.1:10000",
    .run = run,
};

}  // namespace fathom::cli
