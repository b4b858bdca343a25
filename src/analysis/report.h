// SPDX-License-Identifier: MIT
// Reports: named views that answer with tables and words. To add one: a file in views/ with its
// ViewDef, and its name twice in views.cc. Views read summary, timeline, counters and what is
// small, where those hold the answer; what only events can tell is left to SQL that can spill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/insights/insights.h"
#include "analysis/store.h"
#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

// How a table wants to be drawn where there is room for pictures. Its values are the same
// everywhere.
enum class Shape : std::uint8_t {
  kTable,
  kBars,    // the last column's numbers as bars too
  kSeries,  // the last column's lists of numbers as lines
  kTree,    // the column behind `depth` indented by it
};

struct Section {
  Table table;
  Shape shape = Shape::kTable;
  std::string_view id = {};  // of one that others look for, whatever its title says
};

inline constexpr std::string_view kFunctionsSection = "functions";  // of the overview
inline constexpr std::string_view kTimeSection = "time";            // of threads, in words
inline constexpr std::string_view kGroupsSection = "groups";        // two recordings, by a column

// Sentences before tables: whoever reads the first line only has read the most important thing.
struct Report {
  std::vector<std::string> words;      // sentences, one a line
  std::vector<Insight> insights = {};  // the gravest first
  std::vector<Section> sections;
  bool of_part = false;  // of the run; see report_part in filtered_views.h
};

// What to say of such a report.
inline constexpr char kOfPart[] = "This is a part of the run; advice needs the whole run.";

// What all views may be asked; a view refuses what means nothing to it.
struct ViewOptions {
  std::vector<std::string> by;  // what to group by; empty: the view's own choice
  std::int64_t top = -1;        // rows at most; 0: all; -1: the view's own choice
  std::int64_t depth = -1;      // levels of a tree or of directories; -1: the view's own choice
  std::string call = {};        // the name of a call that is to be explained
  std::string file = {};        // and only where it was on this file
  std::span<const Rule> rules = {};  // what the overview asks for advice
};

// A named question, declared once: the command line, HTTP, Python, help and the SQL view of its
// name come from it.
struct ViewDef {
  std::string_view name;
  std::string_view help;
  std::span<const std::string_view> by;  // what it can be grouped by
  Result<Report> (*run)(Store& store, const ViewOptions& options);
  // The SELECT behind the SQL view of the same name, or of another where the contract has that one.
  // None where the contract's view is the answer, or words are.
  std::string (*sql)() = nullptr;
  std::string_view sql_name = {};
  Store::Make make = nullptr;  // makes the tables that `sql` reads; see Store::ensure
  bool of_events = false;      // its SQL reads events; else sums
  bool plain_of_sums = false;  // and without `by` it reads sums all the same
  bool for_rules = false;      // rules ask its SQL: it is there from the beginning
  bool of_positions = false;   // asks how calls moved through files, which a part of a run has to
                               // find out anew
  bool has_depth = false;      // knows `depth`
  bool of_call = false;        // knows `call` and `file`
};

// What its SQL view is called.
[[nodiscard]] inline std::string_view name_in_sql(const ViewDef* view) {
  return view->sql_name.empty() ? view->name : view->sql_name;
}

// In the order that help shows; the first is what a report without a view's name shows.
[[nodiscard]] std::span<const ViewDef* const> views();

// "overview" where the name is empty. An unknown view, or a grouping that the view does not have,
// is a usage error.
Result<const ViewDef*> choose_view(std::string_view name, const ViewOptions& options);

// What the view says, with the names of C++ functions as their programmers wrote them.
Result<Report> make_report(const ViewDef& view, Store& store, const ViewOptions& options);

}  // namespace fathom::analysis
