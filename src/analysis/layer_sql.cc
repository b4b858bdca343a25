// SPDX-License-Identifier: MIT
// Replaces words of a query by lists of layers, so that a new layer is in all queries that mean it.
#include "analysis/layer_sql.h"

#include <utility>

namespace fathom::analysis {
namespace {

using trace::LayerDef;

std::string list_of(bool (*belongs)(const LayerDef&)) {
  std::string list;
  for (const LayerDef& layer : trace::kLayers) {
    if (!belongs(layer)) continue;
    list += list.empty() ? "('" : ", '";
    list += layer.name;
    list += '\'';
  }
  return list + ')';
}

void replace_all(std::string& text, std::string_view word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
    text.replace(at, word.size(), by);
}

}  // namespace

std::string layer_sql(std::string_view query) {
  static const std::pair<std::string_view, std::string> kWords[] = {
      {"@io", list_of([](const LayerDef& layer) { return layer.io; })},
      {"@code", list_of([](const LayerDef& layer) { return layer.code; })},
      {"@own", list_of([](const LayerDef& layer) { return layer.io || layer.code; })},
      {"@kernel", list_of([](const LayerDef& layer) { return layer.kernel; })},
      {"@beside", list_of([](const LayerDef& layer) { return !layer.in_threads; })},
      {"@undevice", "coalesce(layer NOT IN " +
                        list_of([](const LayerDef& layer) { return layer.device; }) + ", true)"}};
  std::string text(query);
  for (const auto& [word, by] : kWords) replace_all(text, word, by);
  return text;
}

}  // namespace fathom::analysis
