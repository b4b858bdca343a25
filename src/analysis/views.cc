// SPDX-License-Identifier: MIT
// The list of views: the one place that names them all. Help, `fathom report`, the HTTP interface,
// Python and the views of SQL come from it, in its order.
#include <algorithm>

#include "analysis/report.h"
#include "base/demangle.h"
#include "base/text.h"

namespace fathom::analysis {

extern const ViewDef kOverviewView;
extern const ViewDef kFunctionsView;
extern const ViewDef kTimeView;
extern const ViewDef kWaitsView;
extern const ViewDef kHotView;
extern const ViewDef kLinesView;
extern const ViewDef kNodesView;
extern const ViewDef kLoopsView;
extern const ViewDef kTreeView;
extern const ViewDef kExplainView;
extern const ViewDef kFilesView;
extern const ViewDef kDirectoriesView;
extern const ViewDef kPatternsView;
extern const ViewDef kLayersView;
extern const ViewDef kOverlapView;
extern const ViewDef kPhasesView;
extern const ViewDef kTrainingView;
extern const ViewDef kRanksView;
extern const ViewDef kProcessesView;
extern const ViewDef kThreadsView;
extern const ViewDef kSizesView;
extern const ViewDef kLatenciesView;
extern const ViewDef kBandwidthView;
extern const ViewDef kConcurrencyView;
extern const ViewDef kTimelineView;
extern const ViewDef kIntervalsView;
extern const ViewDef kResourcesView;
extern const ViewDef kCudaView;
extern const ViewDef kKernelsView;
extern const ViewDef kCopiesView;
extern const ViewDef kGpuMemoryView;
extern const ViewDef kGpuIdleView;
extern const ViewDef kLossesView;

namespace {

const ViewDef* const kViews[] = {
    &kOverviewView,  &kTimeView,        &kWaitsView,     &kFunctionsView,   &kHotView,
    &kLinesView,     &kNodesView,       &kLoopsView,     &kTreeView,        &kExplainView,
    &kFilesView,     &kDirectoriesView, &kPatternsView,  &kLayersView,      &kOverlapView,
    &kPhasesView,    &kTrainingView,    &kRanksView,     &kProcessesView,   &kThreadsView,
    &kSizesView,     &kLatenciesView,   &kBandwidthView, &kConcurrencyView, &kTimelineView,
    &kIntervalsView, &kResourcesView,   &kCudaView,      &kKernelsView,     &kCopiesView,
    &kGpuMemoryView, &kGpuIdleView,     &kLossesView,
};

Error unknown_view(std::string_view name) {
  std::vector<std::string> names;
  for (const ViewDef* view : kViews) names.emplace_back(view->name);
  return usage_error("there is no view '" + escape_control(name) + "'",
                     "views are " + join(names, ", "));
}

Error unknown_grouping(const ViewDef& view, const std::string& by) {
  const std::vector<std::string> known(view.by.begin(), view.by.end());
  return usage_error(
      "view " + std::string(view.name) + " cannot be grouped by '" + escape_control(by) + "'",
      known.empty() ? "leave --by out" : "it can by " + join(known, ", "));
}

Error no_depth(const ViewDef& view) {
  std::vector<std::string> known;
  for (const ViewDef* other : kViews) {
    if (other->has_depth) known.emplace_back(other->name);
  }
  return usage_error("view " + std::string(view.name) + " has no depth",
                     "--depth is for " + join(known, " and "));
}

Status check_call(const ViewDef& view, const ViewOptions& options) {
  if (!view.of_call && (!options.call.empty() || !options.file.empty()))
    return usage_error("view " + std::string(view.name) + " takes neither --call nor --file",
                       "they are for view explain");
  return {};
}

// Recordings have them as binaries do.
void demangle_names(Table& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].name != "name" && table.columns[column].name != "kernel") continue;
    for (auto& row : table.rows) {
      const auto* const text = std::get_if<std::string>(&row[column].data);
      if (text != nullptr && text->starts_with("_Z")) row[column] = demangle(*text);
    }
  }
}

}  // namespace

std::span<const ViewDef* const> views() { return kViews; }

Result<Report> make_report(const ViewDef& view, Store& store, const ViewOptions& options) {
  FATHOM_ASSIGN(Report report, view.run(store, options));
  for (Section& section : report.sections) demangle_names(section.table);
  return report;
}

Result<const ViewDef*> choose_view(std::string_view name, const ViewOptions& options) {
  if (name.empty()) name = kViews[0]->name;
  const auto* const found =
      std::ranges::find_if(kViews, [&](const ViewDef* view) { return view->name == name; });
  if (found == std::end(kViews)) return unknown_view(name);
  for (const std::string& by : options.by) {
    if (std::ranges::find((*found)->by, by) == (*found)->by.end())
      return unknown_grouping(**found, by);
  }
  if (options.depth >= 0 && !(*found)->has_depth) return no_depth(**found);
  FATHOM_TRY(check_call(**found, options));
  return *found;
}

}  // namespace fathom::analysis
