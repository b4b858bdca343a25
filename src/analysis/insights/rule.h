// SPDX-License-Identifier: MIT
// A rule: a question to a recording whose answer is advice. Rules are data, one text file each;
// ours are in insights/rules and part of the program, a user's are read from a directory. The form,
// for both:
//
//   -- id: small-reads
//   -- severity: high                  (high, medium, low or good)
//   -- of: read 1000                   (optional) asked where so many calls are of these layers or
//                                      categories, or so many `processes` ran; the number may lack
//   -- title: Many small reads
//   -- says: {calls:count read} of {each:bytes} took {time:ns}, {share:percent} of the run
//   -- gain: the time that they take beyond what as many bytes take in large reads
//   -- place: events where category = 'read' AND file = {worst:sql}
//                                      (optional) what the page shows of it, see below
//   -- try: read larger blocks, or many at once
//   --   (a line that begins with more blanks goes on)
//   SELECT … AS calls, … AS each, …, … AS gain     at most one row; no row: nothing to say
//   -- evidence:
//   SELECT …                           the rows behind it, for `fathom show`
//
// {column:form} stands for a column of the row, shown as count, bytes, ns, percent or text; `count
// NOUN` adds the noun, in the plural unless the count is 1: {files:count file}. In a place, `sql`
// makes a literal. The
// column `gain` is the time of the run that could be saved, in ns. A rule fires only where that is
// a hundredth of the run, and its severity follows: high from a tenth on, medium from 3 %, else
// low. Where the column is NULL or absent, the severity is the one that the rule names.
//
// A place is `events where CONDITION` (or `samples`, or `processes`): the page looks for the time
// in which these took most of it; or `view NAME`: a view of the page. Without one nothing is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table.h"

namespace fathom::analysis {

enum class Severity : std::uint8_t { kHigh, kMedium, kLow, kGood };  // in the order of reports

// What a recording must have for a rule to be asked.
struct RuleNeed {
  std::string of;  // a layer or category of calls, or "processes"
  std::int64_t least = 0;
};

// Texts are templates: {column:form} stands for a value of the row that the query found.
struct Rule {
  std::string id;
  Severity severity = Severity::kMedium;
  std::vector<RuleNeed> needs;  // all of them
  std::string title;
  std::string says;
  std::string gain;  // how the gain was computed; "" where the rule has none
  std::string place;
  std::string advice;
  std::string query;
  std::string evidence;
  bool own = false;  // part of the program
};

[[nodiscard]] std::string_view severity_name(Severity severity);

// `where` names the text in errors, which are kCorrupt. Words for kinds of layers (layer_sql.h) are
// replaced in both queries.
Result<Rule> parse_rule(std::string_view text, const std::string& where);

// Whether the page can go there, once values are filled in.
[[nodiscard]] bool is_place(std::string_view text);

// The words with the row's values in place. kCorrupt for a column that the table does not have, or
// a form that does not exist.
Result<std::string> fill_in(std::string_view words, const Table& table,
                            const std::vector<Value>& row);

}  // namespace fathom::analysis
