// SPDX-License-Identifier: MIT
// Names are followed through the definitions of views until only tables of the contract are left.
// Definitions are asked of the database, since filters and rules make views of their own.
#include "analysis/named_tables.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "analysis/contract.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What follows AS in CREATE … AS QUERY; the statement itself where it makes nothing.
std::string query_of(const std::string& sql) {
  const std::vector<std::string> words = words_of_sql(sql.substr(0, 64));
  if (words.empty() || words[0] != "create") return sql;
  for (std::size_t at = 0; at + 3 < sql.size(); ++at) {
    const bool alone = !is_letter(sql[at]) && !is_letter(sql[at + 3]);
    if (alone && sql.compare(at + 1, 2, "AS") == 0) return sql.substr(at + 3);
  }
  return sql;
}

// To make a view, or to drop something, no row is read.
bool reads_rows(const std::string& sql) {
  std::vector<std::string> words = words_of_sql(sql.substr(0, 64));
  if (words.empty() || words[0] == "drop" || words[0] == "set") return false;
  if (words[0] != "create") return true;
  words.resize(std::min<std::size_t>(words.size(), 5));  // CREATE OR REPLACE TEMP VIEW
  return std::ranges::find(words, "view") == words.end();
}

const std::string* text_of(const Value& value) { return std::get_if<std::string>(&value.data); }

bool is_recorded(const std::string& name) {
  return std::ranges::any_of(recorded_views(),
                             [&](const ViewSpec& spec) { return spec.name == name; });
}

// By name. A temporary view hides another one of its name, which it may read. Those of recorded
// tables are left out: they read files.
Result<std::multimap<std::string, std::string>> definitions(sql::Connection& connection) {
  FATHOM_ASSIGN(const Table rows, connection.query("SELECT lower(view_name), sql, database_name "
                                                   "FROM duckdb_views() WHERE NOT internal"));
  std::multimap<std::string, std::string> found;
  for (const std::vector<Value>& row : rows.rows) {
    const std::string* const name = text_of(row[0]);
    const std::string* const sql = text_of(row[1]);
    const std::string* const database = text_of(row[2]);
    if (name == nullptr || sql == nullptr || database == nullptr) continue;
    if (*database == "temp" || !is_recorded(*name)) found.emplace(*name, *sql);
  }
  return found;
}

bool can_be_parsed(sql::Connection& connection, const std::string& sql) {
  const Result<Table> parsed =
      connection.query("SELECT json_serialize_sql($1::VARCHAR)::JSON->>'$.error'", {sql});
  const std::string* const error = parsed ? text_of(parsed->rows[0][0]) : nullptr;
  return error != nullptr && *error == "false";
}

}  // namespace

std::vector<std::string> words_of_sql(std::string_view sql) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : sql) {
    if (is_letter(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

const std::vector<std::string>& NamedTables::names_in(sql::Connection& connection,
                                                      const std::string& sql) {
  constexpr std::size_t kMostKnown = 1000;
  if (const auto found = known_.find(sql); found != known_.end()) return found->second;
  const std::string query = query_of(sql);
  std::vector<std::string> names = connection.table_names(query);
  if (names.empty() && !can_be_parsed(connection, query)) names = words_of_sql(sql);
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[sql] = std::move(names);
}

Result<std::set<std::string>> NamedTables::of(sql::Connection& connection, const std::string& sql) {
  std::set<std::string> tables;
  if (!reads_rows(sql)) return tables;
  FATHOM_ASSIGN(const auto views, definitions(connection));
  std::set<std::string> seen;
  std::vector<std::string> waiting = names_in(connection, sql);
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(name).second) continue;
    if (is_recorded(name)) tables.insert(name);
    const auto [first, last] = views.equal_range(name);
    for (auto view = first; view != last; ++view) {
      const std::vector<std::string>& inner = names_in(connection, view->second);
      waiting.insert(waiting.end(), inner.begin(), inner.end());
    }
  }
  return tables;
}

}  // namespace fathom::analysis
