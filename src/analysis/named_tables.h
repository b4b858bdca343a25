// SPDX-License-Identifier: MIT
// Which tables of the recordings a statement may read, through all views in between.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// Letters, digits and `_` that stand together, in small letters.
std::vector<std::string> words_of_sql(std::string_view sql);

// One thread at a time.
class NamedTables {
 public:
  // Rather one too many than one too few: a statement that cannot be taken apart names every table
  // whose name is a word of it. None for statements that read no row.
  Result<std::set<std::string>> of(sql::Connection& connection, const std::string& sql);

 private:
  const std::vector<std::string>& names_in(sql::Connection& connection, const std::string& sql);

  std::map<std::string, std::vector<std::string>> known_;  // by statement: views are asked often
};

}  // namespace fathom::analysis
