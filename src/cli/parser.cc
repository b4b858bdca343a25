// SPDX-License-Identifier: MIT
// Wraps CLI11. The position of the program's own command line is found here, because CLI11 would
// take a mistyped option for the program.
#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace fathom::cli {
namespace {

struct Line {
  std::string left;  // "-o, --output DIR"
  std::string help;
};

std::string shown_names(const std::string& names, const std::string& metavar) {
  std::string left;
  for (const std::string_view name : split(names, ',')) {
    if (!left.empty()) left += ", ";
    if (left.empty() && name.starts_with("--")) left += "    ";
    left += name;
  }
  return metavar.empty() ? left : left + " " + metavar;
}

// CLI11's own words, in one line.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(trim(text));
}

}  // namespace

struct Parser::Declared {
  Declared(const CommandDef& of, std::vector<std::string> given)
      : command(of), arguments(std::move(given)) {}

  const CommandDef& command;
  std::vector<std::string> arguments;
  CLI::App app;
  std::vector<Line> positionals;
  std::vector<Line> options;
  std::vector<std::string>* tail = nullptr;
  std::string tail_name;

  CLI::Option* finish(CLI::Option* option, const std::string& names, const std::string& metavar,
                      std::string help) {
    options.push_back({shown_names(names, metavar), std::move(help)});
    return option;
  }
};

Parser::Parser(const CommandDef& command, std::vector<std::string> arguments)
    : declared_(std::make_unique<Declared>(command, std::move(arguments))) {
  declared_->app.set_help_flag();  // ours is printed by help()
}
Parser::~Parser() = default;

void Parser::flag(const std::string& names, bool& value, std::string help) {
  declared_->finish(declared_->app.add_flag(names, value), names, "", std::move(help));
}

void Parser::option(const std::string& names, std::string& value, const std::string& metavar,
                    std::string help) {
  declared_->finish(declared_->app.add_option(names, value), names, metavar, std::move(help));
}

void Parser::option(const std::string& names, std::int64_t& value, const std::string& metavar,
                    std::string help) {
  declared_->finish(declared_->app.add_option(names, value), names, metavar, std::move(help));
}

void Parser::option(const std::string& names, double& value, const std::string& metavar,
                    std::string help) {
  declared_->finish(declared_->app.add_option(names, value), names, metavar, std::move(help));
}

void Parser::option(const std::string& names, std::vector<std::string>& value,
                    const std::string& metavar, std::string help) {
  CLI::Option* option = declared_->app.add_option(names, value);
  option->delimiter(',')->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  declared_->finish(option, names, metavar, std::move(help));
}

void Parser::positional(const std::string& name, std::string& value, std::string help) {
  declared_->app.add_option(name, value)->required();
  declared_->positionals.push_back({name, std::move(help)});
}

void Parser::optional_positional(const std::string& name, std::string& value, std::string help) {
  declared_->app.add_option(name, value);
  declared_->positionals.push_back({name, std::move(help)});
}

void Parser::positionals(const std::string& name, std::vector<std::string>& value,
                         std::string help) {
  declared_->app.add_option(name, value)->required();
  declared_->positionals.push_back({name, std::move(help)});
}

void Parser::tail(const std::string& name, std::vector<std::string>& value, std::string help) {
  declared_->tail = &value;
  declared_->tail_name = name;
  declared_->positionals.push_back({name, std::move(help)});
}

bool Parser::given(const std::string& name) const {
  const CLI::Option* option = declared_->app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

// Where the program's own command line starts: behind "--", or at the first word that neither is an
// option nor belongs to one. CLI11's prefix_command would take a mistyped option for the program.
std::size_t Parser::tail_start() const {
  const std::vector<std::string>& words = declared_->arguments;
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--" || word.size() < 2 || word[0] != '-') break;
    if (word.starts_with("--") && word.find('=') != std::string::npos) continue;
    const bool is_long = word.starts_with("--");
    for (std::size_t i = 1; i < (is_long ? 2 : word.size()); ++i) {
      const std::string name = is_long ? word : std::string("-") + word[i];
      const CLI::Option* option = declared_->app.get_option_no_throw(name);
      if (option == nullptr || option->get_items_expected_max() == 0) continue;
      if (is_long || i + 1 == word.size()) ++at;  // its value is the next word
      break;
    }
  }
  return std::min(at, words.size());
}

std::vector<std::string> Parser::words() const {
  std::vector<std::string> words{"fathom", std::string(declared_->command.name)};
  words.insert(words.end(), declared_->arguments.begin(), declared_->arguments.end());
  return words;
}

Result<bool> Parser::parse() {
  Declared& d = *declared_;
  const std::size_t end = d.tail != nullptr ? tail_start() : d.arguments.size();
  std::vector<std::string> own(d.arguments.begin(), d.arguments.begin() + static_cast<long>(end));
  const auto stop = std::ranges::find(own, "--");
  if (std::find_if(own.begin(), stop, [](const std::string& word) {
        return word == "--help" || word == "-h";
      }) != stop) {
    std::fputs(help().c_str(), stdout);
    return false;
  }
  const std::string hint = fmt::format("'fathom {} --help' shows how it is used", d.command.name);
  try {
    std::ranges::reverse(own);  // CLI11 takes its words from the back
    d.app.parse(std::move(own));
  } catch (const CLI::ParseError& error) {
    return usage_error(one_line(error.what()), hint);
  }
  if (d.tail == nullptr) return true;
  const std::size_t skip = end < d.arguments.size() && d.arguments[end] == "--" ? 1 : 0;
  d.tail->assign(d.arguments.begin() + static_cast<long>(end + skip), d.arguments.end());
  if (d.tail->empty()) return usage_error("nothing to run", hint);
  return true;
}

std::string Parser::help() const {
  const Declared& d = *declared_;
  std::string text = fmt::format("usage: fathom {} {}\n\n{}.\n\n", d.command.name, d.command.usage,
                                 d.command.summary);
  const auto add = [&](const std::vector<Line>& lines) {
    for (const Line& line : lines) text += fmt::format("  {:<31} {}\n", line.left, line.help);
  };
  add(d.positionals);
  add(d.options);
  text += fmt::format("  {:<31} {}\n\nExample:\n", "-h, --help", "this text");
  for (const std::string_view line : split(d.command.example, '\n')) {
    text += fmt::format("  {}\n", line);
  }
  return text;
}

}  // namespace fathom::cli
