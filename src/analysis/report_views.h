// SPDX-License-Identifier: MIT
// The SQL views of reports, each made when a statement first names it: planning all of them takes
// longer than most questions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

struct ViewDef;

// One thread at a time.
class ReportViews {
 public:
  // `files` and the empty forms of made tables, which views read; nothing is left to do the second
  // time.
  Status make_first(sql::Connection& connection);
  // Those that the statement names, and those that they read.
  Status make_for(sql::Connection& connection, const std::string& sql);
  Status make_all(sql::Connection& connection);
  [[nodiscard]] bool has_all() const { return begun_ && waiting_.empty(); }

 private:
  [[nodiscard]] std::set<const ViewDef*> named_in(std::string_view sql) const;
  Status make(sql::Connection& connection, const std::set<const ViewDef*>& wanted);

  bool begun_ = false;
  std::vector<const ViewDef*> waiting_;  // not made yet, in the order of views()
};

}  // namespace fathom::analysis
