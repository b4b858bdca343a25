// SPDX-License-Identifier: MIT
// `fathom sql`: streams rows with limits on time, memory and number, since the statement may be
// anybody's.
#include <string>

#include "analysis/store.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/named_trace.h"
#include "cli/open_trace.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/question_guard.h"
#include "cli/tell.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

// Tables for people are laid out as a whole: more rows than anybody reads would fill the memory.
constexpr std::int64_t kTableRows = 10'000;

struct Arguments {
  std::string trace;
  std::string statement;
  OutputOptions output;
  std::string memory, timeout = "10m";
  std::int64_t limit = -1;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, kTraceHelp);
  parser.positional("STATEMENT", a.statement,
                    "one SELECT statement in DuckDB's SQL, or '-' to read it from stdin");
  declare_output(parser, a.output);
  parser.option("--limit", a.limit, "N",
                "print at most N rows, 0 for all (default: 10000 for table and md, else all)");
  parser.option("--memory", a.memory, "SIZE",
                "memory limit (default: half of the machine's), e.g. 2GB; larger sorts and groups "
                "go to $TMPDIR or /var/tmp");
  parser.option("--timeout", a.timeout, "TIME",
                "stop the query after this time, e.g. 30s or 2h (default: 10m)");
  return parser.parse();
}

// Who reads slowly (a pager) does not use up the time of the question.
Status write_out(std::string_view text) {
  const OutputPause pause;
  return print(text);
}

// Passes rows on until the limit.
class Printer {
 public:
  Printer(const Output& output, std::int64_t limit)
      : rows_(output.format, output.style, write_out), left_(limit) {}

  Status take(const Table& part) {
    const auto count = static_cast<std::int64_t>(part.rows.size());
    if (left_ < 0 || count <= left_) {
      if (left_ >= 0) left_ -= count;
      return rows_.rows(part);
    }
    Table head = part;
    head.rows.resize(static_cast<std::size_t>(left_));
    left_ = 0;
    FATHOM_TRY(rows_.rows(head));
    cut_ = true;                                 // only now: an output that fails is told
    return Error{Code::kInvalid, "enough", ""};  // ends the query; not told to anybody
  }
  Status finish() { return rows_.finish(); }
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  render::RowPrinter rows_;
  std::int64_t left_;  // < 0: no limit
  bool cut_ = false;
};

std::int64_t limit_of(const Arguments& arguments, const Output& output) {
  if (arguments.limit > 0) return arguments.limit;
  return arguments.limit < 0 && output.for_people() ? kTableRows : -1;
}

Result<QuestionLimits> limits_of(const Parser& parser, const Arguments& arguments) {
  FATHOM_ASSIGN(QuestionLimits limits, memory_limits(parser, arguments.memory));
  FATHOM_ASSIGN(limits.timeout_ns, timeout_of(arguments.timeout));
  return limits;
}

Result<std::string> statement_of(const Arguments& arguments) {
  if (arguments.statement != "-") return arguments.statement;
  return read_file("/dev/stdin");
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(arguments.output));
  FATHOM_ASSIGN(const QuestionLimits limits, limits_of(parser, arguments));
  FATHOM_ASSIGN(const std::string statement, statement_of(arguments));
  guard_questions(limits);
  FATHOM_ASSIGN(analysis::Store store, open_store(arguments.trace));
  Printer printer(output, limit_of(arguments, output));
  const Status done =
      store.stream_untrusted(statement, [&](const Table& part) { return printer.take(part); });
  if (!done && !printer.cut()) return done.error();
  FATHOM_TRY(printer.finish());
  if (printer.cut() && arguments.limit < 0) {
    remark("showing only the first " + std::to_string(kTableRows) +
           " rows; use --limit 0 or --format csv for all");
  }
  return 0;
}

}  // namespace

extern const CommandDef kSqlCommand;
const CommandDef kSqlCommand = {
    .name = "sql",
    .summary = "Query a recording with SQL",
    .usage = "[OPTION…] TRACE STATEMENT",
    .example =
        "fathom sql sort.fathom \"SELECT name, count(*), sum(dur) FROM events GROUP BY name\"\n"
        "fathom sql sort.fathom \"FROM files ORDER BY bytes_read DESC LIMIT 5\" --format json",
    .run = run,
};

}  // namespace fathom::cli
