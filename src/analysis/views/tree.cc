// SPDX-License-Identifier: MIT
// Where time went, by the way that led there.
#include "analysis/views/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/layer_sql.h"
#include "analysis/view_tools.h"
#include "analysis/views/scopes.h"
#include "analysis/walk/tree_pass.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 40;
constexpr std::int64_t kPaths = 10;
constexpr std::string_view kBy[] = {"host", "pid", "tid"};

// What threads have in common is summed. A node is known by a hash of its way.
constexpr char kTree[] = R"(
  WITH RECURSIVE nodes AS MATERIALIZED (
    SELECT {keys} {node} AS node, {parent} AS parent, depth, layer, name,
           CASE WHEN layer IN @code THEN name
                ELSE concat(name, ' [', layer, ']') END AS step,
           CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(total) AS BIGINT) AS total,
           CAST(sum(self) AS BIGINT) AS self
    FROM tree_nodes GROUP BY ALL),
  paths AS (
    SELECT node, [step] AS path FROM nodes WHERE parent IS NULL
    UNION ALL
    SELECT n.node, list_append(p.path, n.step) FROM paths p JOIN nodes n ON n.parent = p.node)
  SELECT {keys} depth, name, layer, calls, total, self, node, parent, path
  FROM nodes JOIN paths USING (node))";

std::string sql() { return tree_sql({}); }

// Rows in the order of the tree: each behind the one that it lies in, those of a level by time.
class Order {
 public:
  explicit Order(const Table& table) {
    const std::size_t node = column_of(table, "node");
    const std::size_t parent = column_of(table, "parent");
    std::map<std::string, std::size_t> rows;
    for (std::size_t i = 0; i < table.rows.size(); ++i) rows[key(table.rows[i][node])] = i;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const auto found = rows.find(key(table.rows[i][parent]));
      inside_[found == rows.end() ? kTop : found->second].push_back(i);
    }
  }
  std::vector<std::size_t> walk() {
    add(kTop);
    return std::move(order_);
  }

 private:
  static constexpr std::size_t kTop = SIZE_MAX;

  static std::string key(const Value& cell) {
    if (const auto* number = std::get_if<std::uint64_t>(&cell.data)) return std::to_string(*number);
    return cell.is_null() ? "" : std::to_string(int_of(cell));
  }
  // Paths are as deep as the program's calls: a stack of our own, not of the machine.
  void add(std::size_t from) {
    std::vector<std::size_t> open(inside_[from].rbegin(), inside_[from].rend());
    while (!open.empty()) {
      const std::size_t row = open.back();
      open.pop_back();
      order_.push_back(row);
      const std::vector<std::size_t>& next = inside_[row];
      open.insert(open.end(), next.rbegin(), next.rend());
    }
  }

  std::map<std::size_t, std::vector<std::size_t>> inside_;
  std::vector<std::size_t> order_;
};

// The first rows of what was found (most time first) as a tree.
Table tree_table(const Table& found, std::size_t keys, const TimeBase& base) {
  Table table;
  table.title = "Call tree";
  for (std::size_t i = 0; i < keys; ++i) table.columns.push_back(found.columns[i]);
  const std::vector<Column> rest = {{"depth"},
                                    {"call"},
                                    {"layer"},
                                    {"calls", kCount},
                                    {"total", kNanoseconds},
                                    {"share", kPercent},
                                    {"self", kNanoseconds}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const std::size_t at : Order(found).walk()) {
    const std::vector<Value>& row = found.rows[at];
    std::vector<Value> cells(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys + 5));
    cells.push_back(percent_of(int_of(row[keys + 4]), base.thread_time));
    cells.push_back(row[keys + 5]);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string path_text(const Value& path) {
  std::vector<std::string> steps;
  if (const auto* list = std::get_if<List>(&path.data)) {
    for (const Value& step : *list) steps.push_back(text_of(step));
  }
  return join(steps, " > ");
}

Result<Table> paths_table(Store& store, const std::string& all, const TimeBase& base,
                          std::int64_t rows) {
  FATHOM_ASSIGN(
      const Table found,
      store.query("SELECT path, self, calls FROM (" + all +
                  ") WHERE self > 0 ORDER BY self DESC, calls DESC, path" + limit_sql(rows)));
  Table table;
  table.title = "Hottest paths";
  table.columns = {{"self", kNanoseconds}, {"share", kPercent}, {"calls", kCount}, {"path"}};
  for (const auto& row : found.rows) {
    table.rows.push_back(
        {row[1], percent_of(int_of(row[1]), base.thread_time), row[2], path_text(row[0])});
  }
  return table;
}

Result<Report> run(Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(const TimeBase base, time_base(store));
  const std::vector<std::string>& keys = scope_of(options.by).keys;
  FATHOM_TRY(store.ensure(make_tree));
  FATHOM_TRY(store.query("CREATE OR REPLACE TEMP TABLE the_tree AS " + tree_sql(keys)));
  const std::string depth =
      options.depth >= 0 ? fmt::format(" WHERE depth < {}", options.depth) : "";
  FATHOM_ASSIGN(Table found, store.query("SELECT *, count(*) OVER () AS all_rows FROM the_tree" +
                                         depth + " ORDER BY total DESC, depth, path" +
                                         limit_sql(rows_wanted(options, kRows))));
  const std::int64_t all = take_row_count(found);
  Table tree = tree_table(found, keys.size(), base);
  if (all == 0) FATHOM_TRY(note_no_calls(store, tree, "--layers cpu"));
  note_left_out(tree, all, "calls");
  Report report{.words = {}, .sections = {{std::move(tree), Shape::kTree}}};
  FATHOM_ASSIGN(Table paths,
                paths_table(store, "FROM the_tree", base, rows_wanted(options, kPaths)));
  if (!paths.rows.empty()) report.sections.push_back({std::move(paths)});
  return report;
}

}  // namespace

std::string tree_sql(const std::vector<std::string>& by) {
  std::string keys;
  for (const std::string& key : by) keys += key + ", ";
  const auto own = [&](const char* node) {
    return by.empty() ? std::string(node)
                      : fmt::format("CASE WHEN {0} IS NOT NULL THEN hash({1}{0}) END", node, keys);
  };
  static const std::string kText = layer_sql(kTree);
  return fmt::format(fmt::runtime(kText), fmt::arg("keys", keys), fmt::arg("node", own("node")),
                     fmt::arg("parent", own("parent")));
}

extern const ViewDef kTreeView;
const ViewDef kTreeView = {
    .name = "tree",
    .help =
        "the call tree and its hottest paths; --depth limits the levels, --layers cpu shows "
        "samples",
    .by = kBy,
    .run = run,
    .sql = sql,
    .make = make_tree,
    .of_events = true,
    .has_depth = true,
};

}  // namespace fathom::analysis
