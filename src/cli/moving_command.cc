// SPDX-License-Identifier: MIT
// `fathom moving`: what another tool's flag, variable, file or function is called here.
#include <algorithm>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/moving_page.h"
#include "cli/output.h"
#include "cli/parser.h"
#include "cli/tell.h"
#include "render/render.h"
#include "render/wrap.h"

namespace fathom::cli {
namespace {

using Rows = std::vector<MovedName>;

Table tool_table(const Rows& rows) {
  Table table{.title = "Tools",
              .columns = {{"tool"}, {"rows", Measure::kCount}, {"all of it"}},
              .rows = {},
              .note = "fathom moving NAME: one flag, variable, file or function"};
  for (const std::string& tool : tools_of(rows)) {
    const auto count = std::ranges::count(rows, tool, &MovedName::tool);
    table.rows.push_back({tool, static_cast<std::int64_t>(count),
                          "fathom moving " + shell_quote(word_for(tool, rows))});
  }
  return table;
}

Table row_table(const Rows& rows) {
  Table table{.title = "Moving",
              .columns = {{"tool"}, {"section"}, {"old"}, {"fathom"}},
              .rows = {},
              .note = {}};
  for (const MovedName& row : rows) table.rows.push_back({row.tool, row.section, row.old, row.now});
  return table;
}

// For people: a command that is cut to a column cannot be copied, so that nothing is.
std::string row_text(const Rows& rows, const render::Style& style) {
  constexpr std::size_t kOldIndent = 2, kNowIndent = 6;
  std::string text, head;
  for (const MovedName& row : rows) {
    const std::string above = row.section.empty() ? row.tool : row.tool + ": " + row.section;
    if (above != head) {
      text += text.empty() ? "" : "\n";
      text += style.color ? "\x1b[1m" + above + "\x1b[0m\n" : above + "\n";
      head = above;
    }
    text += render::wrapped(row.old, kOldIndent, style.width);
    text += render::wrapped(row.now, kNowIndent, style.width);
  }
  return text;
}

Error unknown_name(const std::string& name, const Rows& rows) {
  std::vector<std::string> known = tools_of(rows);
  for (const MovedName& row : rows) known.insert(known.end(), row.names.begin(), row.names.end());
  const std::string near = did_you_mean(near_words(name, known));
  return usage_error("no entry for '" + escape_control(name) + "'",
                     near.empty() ? "'fathom moving' lists the tools" : near);
}

// A flag of another tool is none of ours.
Error without_dashes(const Parser& parser, Error error) {
  const std::vector<std::string> words = parser.words();
  const auto flag = std::ranges::find_if(words, [](const auto& word) { return word[0] == '-'; });
  if (flag == words.end() || error.message.find(*flag) == std::string::npos) return error;
  const std::string name = flag->substr(std::min(flag->find_first_not_of('-'), flag->size()));
  error.hint = "write a flag without its dashes: fathom moving " + shell_quote(name);
  return error;
}

Result<int> run(Parser& parser) {
  std::string name;
  OutputOptions options;
  parser.optional_positional("NAME", name,
                             "a name that you know from another tool, or the tool itself "
                             "(default: list the tools)");
  declare_output(parser, options);
  const Result<bool> go_on = parser.parse();
  if (!go_on) return without_dashes(parser, go_on.error());
  if (!*go_on) return 0;
  FATHOM_ASSIGN(const Output output, output_of(options));
  const Rows all = read_moving_page(moving_pages().front().text);
  if (name.empty()) {
    FATHOM_TRY(print(render::render(tool_table(all), output.format, output.style)));
    return 0;
  }
  Rows found = rows_of_tool(all, name);
  if (found.empty()) found = rows_of_name(all, name);
  if (found.empty()) return unknown_name(name, all);
  FATHOM_TRY(print(output.format == render::Format::kTable
                       ? row_text(found, output.style)
                       : render::render(row_table(found), output.format, output.style)));
  return 0;
}

}  // namespace

extern const CommandDef kMovingCommand;
const CommandDef kMovingCommand = {
    .name = "moving",
    .summary = "Find what another tool's flag, variable, file or function is called here",
    .usage = "[NAME] [OPTION…]",
    .example = "fathom moving DFTRACER_TIME_METRIC\nfathom moving datacrumbs",
    .run = run,
};

}  // namespace fathom::cli
