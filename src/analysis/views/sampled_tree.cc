// SPDX-License-Identifier: MIT
// Stacks are folded in C++: SQL would have to join as often as a stack is deep.
#include "analysis/views/sampled_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/stack_shapes.h"
#include "analysis/view_tools.h"
#include "analysis/views/sampled_event.h"
#include "analysis/views/scopes.h"
#include "base/plural.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using enum Measure;

constexpr std::int64_t kRows = 40;
constexpr std::int64_t kPaths = 10;

// Every part (host, process, thread) that --by tells apart is a node below the root, and its
// outermost functions lie below that.
class SampledTree {
 public:
  Status load(Store& store, const std::vector<std::string>& keys) {
    FATHOM_TRY(shapes_.load(store, kOfOneEvent));
    const std::string columns = keys.empty() ? "" : columns_sql(keys) + ", ";
    FATHOM_ASSIGN(const Table rows,
                  store.query(fmt::format("SELECT {}stack, CAST(sum(weight) AS BIGINT), count(*) "
                                          "FROM samples WHERE {} GROUP BY ALL ORDER BY ALL",
                                          columns, kOfOneEvent)));
    for (const auto& row : rows.rows) add(row, keys.size());
    totals_ = sums_.totals();
    return {};
  }

  [[nodiscard]] std::int64_t whole() const { return totals_[StackTree::kRoot].amount; }
  [[nodiscard]] const std::vector<Value>& part(std::uint32_t node) const {
    while (parent(node) != StackTree::kRoot) node = parent(node);
    return parts_[sums_.tree.node(node).frame];
  }
  [[nodiscard]] const StackFunction& function(std::uint32_t node) const {
    return shapes_.function(sums_.tree.node(node).frame);
  }
  [[nodiscard]] const StackSums::Sum& total(std::uint32_t node) const { return totals_[node]; }
  [[nodiscard]] std::int64_t self(std::uint32_t node) const {
    return node < sums_.sums.size() ? sums_.sums[node].amount : 0;
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const {
    return sums_.tree.node(node).parent;
  }
  // Nodes of functions; those of parts have none.
  [[nodiscard]] std::vector<std::uint32_t> nodes() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t id = 1; id < sums_.tree.size(); ++id) {
      if (parent(id) != StackTree::kRoot) found.push_back(id);
    }
    return found;
  }
  // By node; 0 is an outermost function.
  [[nodiscard]] std::vector<std::int64_t> depths() const {
    std::vector<std::int64_t> depths(sums_.tree.size(), -2);
    for (std::uint32_t id = 1; id < depths.size(); ++id) depths[id] = depths[parent(id)] + 1;
    return depths;
  }

 private:
  void add(const std::vector<Value>& row, std::size_t keys) {
    const auto at = static_cast<std::ptrdiff_t>(keys);
    std::vector<Value> part(row.begin(), row.begin() + at);
    std::string key;
    for (const Value& cell : part)
      key += cell.is_null() ? "-\n" : text_of(cell) + std::to_string(int_of(cell)) + "\n";
    const auto [found, fresh] =
        part_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(parts_.size()));
    if (fresh) parts_.push_back(std::move(part));
    std::uint32_t node = sums_.tree.child(StackTree::kRoot, found->second);
    if (!row[keys].is_null()) {
      for (const std::uint32_t frame : shapes_.path(int_of(row[keys])))
        node = sums_.tree.child(node, frame);
    }
    sums_.add(node, int_of(row[keys + 2]), int_of(row[keys + 1]));
  }

  StackShapes shapes_;
  std::vector<std::vector<Value>> parts_;
  std::map<std::string, std::uint32_t> part_ids_;
  StackSums sums_;
  std::vector<StackSums::Sum> totals_;
};

// A caller before what it calls, those of one caller by time. `nodes` has callers before what they
// call.
std::vector<std::uint32_t> in_order(const SampledTree& tree,
                                    const std::vector<std::uint32_t>& nodes) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> called;
  std::vector<std::uint32_t> tops;
  for (const std::uint32_t node : nodes) {
    std::vector<std::uint32_t>& list = called[tree.parent(node)];
    const bool top = tree.parent(tree.parent(node)) == StackTree::kRoot;
    if (top && list.empty()) tops.push_back(tree.parent(node));
    list.push_back(node);
  }
  std::vector<std::uint32_t> open(tops.rbegin(), tops.rend());
  std::vector<std::uint32_t> order;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (tree.parent(node) != StackTree::kRoot) order.push_back(node);
    const std::vector<std::uint32_t>& list = called[node];
    open.insert(open.end(), list.rbegin(), list.rend());
  }
  return order;
}

Table tree_table(const SampledTree& tree, const std::vector<std::string>& keys,
                 const ViewOptions& options, Measure measure) {
  const std::vector<std::int64_t> depths = tree.depths();
  std::vector<std::uint32_t> nodes = tree.nodes();
  if (options.depth >= 0)
    std::erase_if(nodes, [&](std::uint32_t node) { return depths[node] >= options.depth; });
  std::ranges::stable_sort(nodes, std::greater(),
                           [&](std::uint32_t node) { return tree.total(node).amount; });
  const auto all = static_cast<std::int64_t>(nodes.size());
  const std::int64_t rows = rows_wanted(options, kRows);
  if (rows > 0 && all > rows) nodes.resize(static_cast<std::size_t>(rows));
  Table table;
  table.title = "Call tree";
  for (const std::string& key : keys) table.columns.push_back({key});
  const std::vector<Column> rest = {{"depth"},           {"call"},           {"module"},
                                    {"samples", kCount}, {"total", measure}, {"share", kPercent},
                                    {"self", measure}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const std::uint32_t node : in_order(tree, nodes)) {
    const StackFunction& function = tree.function(node);
    const StackSums::Sum& total = tree.total(node);
    std::vector<Value> cells = tree.part(node);
    cells.insert(
        cells.end(),
        {depths[node], function.name, function.module.empty() ? Value() : Value(function.module),
         total.count, total.amount, percent_of(total.amount, tree.whole()), tree.self(node)});
    table.rows.push_back(std::move(cells));
  }
  if (all == 0) table.note = "nothing was sampled; 'fathom report TRACE layers' says why";
  note_left_out(table, all, "calls");
  return table;
}

// Of a deep one, both ends.
std::string path_text(const SampledTree& tree, std::uint32_t node) {
  constexpr std::size_t kOuter = 5, kInner = 25;
  std::vector<std::string> names;
  for (; tree.parent(node) != StackTree::kRoot; node = tree.parent(node))
    names.push_back(tree.function(node).name);
  std::ranges::reverse(names);
  if (names.size() > kOuter + kInner + 1) {
    const std::size_t left = names.size() - kOuter - kInner;
    names.erase(names.begin() + kOuter, names.end() - kInner);
    names.insert(names.begin() + kOuter, "(" + counted(left, "more call") + ")");
  }
  return join(names, " > ");
}

Table paths_table(const SampledTree& tree, std::int64_t rows, Measure measure) {
  std::vector<std::uint32_t> nodes = tree.nodes();
  std::erase_if(nodes, [&](std::uint32_t node) { return tree.self(node) <= 0; });
  std::ranges::stable_sort(nodes, std::greater(),
                           [&](std::uint32_t node) { return tree.self(node); });
  if (rows > 0 && nodes.size() > static_cast<std::size_t>(rows))
    nodes.resize(static_cast<std::size_t>(rows));
  Table table;
  table.title = "Hottest paths";
  table.columns = {{"self", measure}, {"share", kPercent}, {"path"}};
  for (const std::uint32_t node : nodes) {
    table.rows.push_back(
        {tree.self(node), percent_of(tree.self(node), tree.whole()), path_text(tree, node)});
  }
  return table;
}

}  // namespace

Result<Report> sampled_tree(Store& store, const ViewOptions& options) {
  const std::vector<std::string>& keys = scope_of(options.by).keys;
  SampledTree tree;
  FATHOM_TRY(tree.load(store, keys));
  FATHOM_ASSIGN(const SampledEvent sampled, sampled_event(store));
  Table calls = tree_table(tree, keys, options, sampled.measure);
  add_note(calls, sampled.note);
  Report report{.words = {}, .sections = {{std::move(calls), Shape::kTree}}};
  Table paths = paths_table(tree, rows_wanted(options, kPaths), sampled.measure);
  if (!paths.rows.empty()) report.sections.push_back({std::move(paths)});
  return report;
}

}  // namespace fathom::analysis
