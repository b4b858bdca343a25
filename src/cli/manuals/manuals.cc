// SPDX-License-Identifier: MIT
// What manual pages and completions have in common: the commands' arguments, and which values of
// them are known beforehand.
#include "cli/manuals/manuals.h"

#include <algorithm>

#include "analysis/import/import.h"
#include "analysis/report.h"
#include "base/text.h"
#include "cli/moving_page.h"
#include "render/export/exporter.h"
#include "trace/rows/layers.h"

namespace fathom::cli {
namespace {

using Words = std::vector<std::string>;

Words layer_names() {
  Words words;
  for (const trace::LayerDef& layer : trace::kLayers) words.emplace_back(layer.name);
  return words;
}

Words view_names() {
  Words words;
  for (const analysis::ViewDef* view : analysis::views()) words.emplace_back(view->name);
  return words;
}

Words format_names(std::string_view command) {
  Words words;
  if (command == "export") {
    for (const render::ExporterDef* def : render::exporters())
      if (def->dialect.empty()) words.emplace_back(def->name);
  } else if (command == "import") {
    for (const analysis::ImporterDef* def : analysis::importers()) words.emplace_back(def->name);
  } else if (command == "watch") {
    words = {"table", "json"};
  } else {
    words = {"table", "json", "csv", "md"};
  }
  return words;
}

// Those that are one word.
Words tools_to_move_from() {
  const std::vector<MovedName> rows = read_moving_page(moving_pages().front().text);
  Words words;
  for (const std::string& tool : tools_of(rows)) {
    std::string word = word_for(tool, rows);
    if (word.find(' ') == std::string::npos) words.push_back(std::move(word));
  }
  return words;
}

bool is_layers(const Argument& argument) {
  return argument.names == "--layers" || argument.names == "--detail";
}

bool is_file(std::string_view word) {
  constexpr std::string_view kFiles[] = {"FILE", "DIR", "DIR,…", "PATH", "P,…", "TRACE",
                                         "OUT",  "A,…", "B,…",   "A",    "B",   "LOG"};
  return std::ranges::find(kFiles, word) != std::end(kFiles);
}

}  // namespace

std::vector<Manual> manuals() {
  std::vector<Manual> all;
  for (const CommandDef* command : commands()) {
    all.push_back({command, Parser::describe(*command)});
    all.back().takes.options.push_back({"-h,--help", "", "print what the command takes"});
  }
  return all;
}

std::vector<std::string> names_of(const Argument& argument) {
  Words names;
  for (const std::string_view name : split(argument.names, ',')) names.emplace_back(name);
  return names;
}

Values values_of(const CommandDef& command, const Argument& argument) {
  using Kind = Values::Kind;
  const bool positional = !argument.names.starts_with('-');
  const std::string& word = positional ? argument.names : argument.metavar;
  if (word == "FORMAT") return {Kind::kWords, format_names(command.name)};
  if (positional && word == "VIEW") return {Kind::kWords, view_names()};
  if (positional && word == "ACTION") return {Kind::kWords, {"status", "reload"}};
  if (positional && command.name == "moving") return {Kind::kWords, tools_to_move_from()};
  if (argument.names == "--exit-code") return {Kind::kWords, {"shell", "signal"}};
  if (argument.names == "--when-full") return {Kind::kWords, {"drop", "block"}};
  if (argument.names == "--mode") return {Kind::kWords, {"profile", "trace"}};
  if (argument.names == "--split") return {Kind::kWords, {"process"}};
  if (is_layers(argument)) return {Kind::kWords, layer_names(), true};
  return {is_file(word) ? Kind::kFiles : Kind::kNone, {}};
}

}  // namespace fathom::cli
