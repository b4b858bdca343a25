// SPDX-License-Identifier: MIT
// Reads the page's tables: those of four cells (column, type, NULL, meaning) below the heading of a
// table or view, and the one of two cells (columns, meaning) for all other views.
#include "serve/routes/column_help.h"

#include <map>
#include <vector>

#include "base/text.h"

namespace fathom::serve {
namespace {

constexpr std::string_view kOthers = "Columns of other views";

using Meanings = std::map<std::string, std::string, std::less<>>;

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  for (std::size_t at = line.find(" | "); at != std::string_view::npos; at = line.find(" | ")) {
    cells.push_back(trim(line.substr(0, at)));
    line.remove_prefix(at + 3);
  }
  cells.push_back(trim(line));
  return cells;
}

// The page's marks of code and links mean nothing here.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '`' || text[at] == '[') continue;
    if (text[at] == ']' && at + 1 < text.size() && text[at + 1] == '(') {
      const std::size_t end = text.find(')', at);
      if (end != std::string_view::npos) at = end;
      continue;
    }
    out += text[at];
  }
  return out;
}

class Page {
 public:
  Page() {
    for (const ContractText& page : contract_texts()) {
      std::string heading;
      for (const std::string_view line : split(page.text, '\n')) {
        if (line.starts_with("#")) heading = plain(trim(line.substr(line.rfind('#') + 1)));
        if (line.starts_with("| `")) add(heading, cells_of(line));
      }
    }
  }

  [[nodiscard]] std::string find(std::string_view view, std::string_view column) const {
    const std::string full = std::string(view) + "." + std::string(column);
    const bool is_table = tables_.contains(full);
    for (const auto* where : {&tables_, &others_}) {
      if (const auto found = where->find(full); found != where->end() && !found->second.empty())
        return found->second;
    }
    // A name means the same nearly everywhere.
    for (const auto* where : {is_table ? &usual_ : &others_, is_table ? &others_ : &usual_}) {
      if (const auto found = where->find(column); found != where->end()) return found->second;
    }
    return "";
  }

 private:
  void add(const std::string& heading, const std::vector<std::string_view>& cells) {
    if (cells.size() == 2 && heading == kOthers) {
      const std::string names = plain(cells[0]);
      for (const std::string_view name : split(names, ','))
        others_.try_emplace(std::string(trim(name)), plain(cells[1]));
    }
    if (cells.size() != 4) return;
    std::string meaning = plain(cells[3]);
    const std::string name = plain(cells[0]);
    if (!meaning.empty()) usual_.try_emplace(name, meaning);
    tables_.try_emplace(heading + "." + name, std::move(meaning));
  }

  Meanings tables_;  // by "view.column"; "" where the name says it
  Meanings usual_;   // by column: the first table's
  Meanings others_;  // by column or "view.column"
};

}  // namespace

std::string column_help(std::string_view view, std::string_view column) {
  static const Page page;
  return page.find(view, column);
}

}  // namespace fathom::serve
