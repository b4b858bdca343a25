// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cstdio>
#include <string>

#include "analysis/store.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/parser.h"
#include "render/render.h"

namespace fathom::cli {
namespace {

// Tables for people are laid out as a whole: more rows than anybody reads would fill the memory.
constexpr std::int64_t kTableRows = 10'000;

struct Arguments {
  std::string trace;
  std::string statement;
  std::string format = "table";
  std::int64_t limit = -1;
};

Result<bool> parse(Parser& parser, Arguments& a) {
  parser.positional("TRACE", a.trace, "the recording, or a directory of recordings");
  parser.positional("STATEMENT", a.statement,
                    "one SELECT of DuckDB's SQL; '-' reads it from stdin");
  parser.option("--format", a.format, "FORMAT", "table, json, csv or md (table)");
  parser.option("--limit", a.limit, "N",
                "print at most N rows; 0: all (10000 as table or md, else all)");
  return parser.parse();
}

Status write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return Error{Code::kIo, "cannot write to stdout", ""};
}

// Passes rows on until the limit.
class Printer {
 public:
  Printer(render::Format format, std::int64_t limit)
      : rows_(format, render::style_for(STDOUT_FILENO), write_out), left_(limit) {}

  Status take(const Table& part) {
    const auto count = static_cast<std::int64_t>(part.rows.size());
    if (left_ < 0 || count <= left_) {
      if (left_ >= 0) left_ -= count;
      return rows_.rows(part);
    }
    Table head = part;
    head.rows.resize(static_cast<std::size_t>(left_));
    left_ = 0;
    cut_ = true;
    FATHOM_TRY(rows_.rows(head));
    return Error{Code::kInvalid, "enough", ""};  // ends the query; not told to anybody
  }
  Status finish() { return rows_.finish(); }
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  render::RowPrinter rows_;
  std::int64_t left_;  // < 0: no limit
  bool cut_ = false;
};

std::int64_t limit_of(const Arguments& arguments, render::Format format) {
  if (arguments.limit > 0) return arguments.limit;
  const bool laid_out = format == render::Format::kTable || format == render::Format::kMarkdown;
  return arguments.limit < 0 && laid_out ? kTableRows : -1;
}

Result<std::string> statement_of(const Arguments& arguments) {
  if (arguments.statement != "-") return arguments.statement;
  return read_file("/dev/stdin");
}

Result<int> run(Parser& parser) {
  Arguments arguments;
  FATHOM_ASSIGN(const bool go_on, parse(parser, arguments));
  if (!go_on) return 0;
  FATHOM_ASSIGN(const render::Format format, render::parse_format(arguments.format));
  FATHOM_ASSIGN(const std::string statement, statement_of(arguments));
  FATHOM_ASSIGN(analysis::Store store, open_store(arguments.trace));
  Printer printer(format, limit_of(arguments, format));
  const Status done =
      store.stream_untrusted(statement, [&](const Table& part) { return printer.take(part); });
  if (!done && !printer.cut()) return done.error();
  FATHOM_TRY(printer.finish());
  if (printer.cut() && arguments.limit < 0) {
    std::fprintf(stderr, "fathom: only the first %lld rows; --limit 0 or --format csv gives all\n",
                 static_cast<long long>(kTableRows));
  }
  return 0;
}

}  // namespace

extern const CommandDef kSqlCommand;
const CommandDef kSqlCommand = {
    .name = "sql",
    .summary = "Asks a recording anything, in SQL",
    .usage = "[OPTION…] TRACE STATEMENT",
    .example =
        "fathom sql sort.fathom \"SELECT name, count(*), sum(dur) FROM events GROUP BY name\"\n"
        "fathom sql sort.fathom \"FROM files ORDER BY bytes_read DESC LIMIT 5\" --format json",
    .run = run,
};

}  // namespace fathom::cli
