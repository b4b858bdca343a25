// SPDX-License-Identifier: MIT
// Which views of reports a statement may mean, so that only those are made. Rather one view too
// many than one too few: words are compared, whatever they mean in the statement, so that no
// dialect of SQL has to be understood here.
#include "analysis/report_views.h"

#include <algorithm>
#include <iterator>

#include "analysis/files_view.h"
#include "analysis/moved_view.h"
#include "analysis/named_tables.h"
#include "analysis/report.h"
#include "analysis/store_views.h"
#include "analysis/walk/made_tables.h"

namespace fathom::analysis {
namespace {

// Whoever uses these wants to know which views there are, or makes one.
constexpr std::string_view kAsksForAll[] = {
    "show", "describe", "pragma", "view", "information_schema", "query", "query_table"};
constexpr std::string_view kListPrefixes[] = {"duckdb_", "pragma_", "pg_", "sqlite_"};

bool asks_for_all(std::string_view word) {
  return std::ranges::find(kAsksForAll, word) != std::end(kAsksForAll) ||
         std::ranges::any_of(kListPrefixes,
                             [&](std::string_view prefix) { return word.starts_with(prefix); });
}

// DESC is DESCRIBE where a statement begins, and an order elsewhere.
bool begins_with_desc(std::string_view sql) {
  constexpr std::string_view kWord = "desc";
  const std::size_t first = sql.find_first_not_of(" \t\r\n(");
  if (first == std::string_view::npos) return false;
  const std::vector<std::string> words = words_of_sql(sql.substr(first, kWord.size() + 1));
  return !words.empty() && words[0] == kWord;
}

bool lists_all(std::string_view sql) {
  for (std::size_t at = 0; at != std::string_view::npos; at = sql.find('(', at + 1)) {
    if (begins_with_desc(sql.substr(at))) return true;
  }
  return std::ranges::any_of(words_of_sql(sql), asks_for_all);
}

}  // namespace

// Those of events only where there are events.
Status ReportViews::make_first(sql::Connection& connection) {
  if (begun_) return {};
  FATHOM_TRY(create_files_view(connection));
  const bool with_events = connection.query("SELECT ts FROM events LIMIT 0").has_value();
  if (with_events) {
    FATHOM_TRY(create_unmade_tables(connection));
    FATHOM_TRY(create_moved_view(connection));
  }
  waiting_.clear();
  std::ranges::copy_if(views(), std::back_inserter(waiting_), [&](const ViewDef* view) {
    return view->sql != nullptr && (with_events || !view->of_events);
  });
  begun_ = true;
  return {};
}

std::set<const ViewDef*> ReportViews::named_in(std::string_view sql) const {
  if (lists_all(sql)) return {waiting_.begin(), waiting_.end()};
  std::vector<std::string> words = words_of_sql(sql);
  std::set<const ViewDef*> named;
  while (!words.empty()) {
    const std::string word = std::move(words.back());
    words.pop_back();
    const auto found = std::ranges::find(waiting_, word, name_in_sql);
    if (found == waiting_.end() || !named.insert(*found).second) continue;
    std::ranges::move(words_of_sql((*found)->sql()), std::back_inserter(words));
  }
  return named;
}

// In rounds: one that reads another can be made when that one is there.
Status ReportViews::make(sql::Connection& connection, const std::set<const ViewDef*>& wanted) {
  std::vector<const ViewDef*> left;
  std::ranges::copy_if(waiting_, std::back_inserter(left),
                       [&](const ViewDef* view) { return wanted.contains(view); });
  while (!left.empty()) {
    const std::size_t before = left.size();
    Status made;
    std::erase_if(left, [&](const ViewDef* view) {
      Status one = create_report_view(connection, *view);
      if (!one) {
        made = std::move(one);
        return false;
      }
      std::erase(waiting_, view);
      return true;
    });
    if (left.size() == before) return made;
  }
  return {};
}

Status ReportViews::make_for(sql::Connection& connection, const std::string& sql) {
  FATHOM_TRY(make_first(connection));
  return waiting_.empty() ? Status() : make(connection, named_in(sql));
}

Status ReportViews::make_all(sql::Connection& connection) {
  FATHOM_TRY(make_first(connection));
  return make(connection, {waiting_.begin(), waiting_.end()});
}

}  // namespace fathom::analysis
