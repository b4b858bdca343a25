// SPDX-License-Identifier: MIT
// Replaces words of a query by lists of layers, so that a new layer is in all queries that mean it.
#include "analysis/layer_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/rows/copies.h"

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

// From the outermost to the innermost.
std::vector<LayerDef> inward() {
  std::vector<LayerDef> layers(trace::kLayers.begin(), trace::kLayers.end());
  std::stable_partition(layers.begin(), layers.end(),
                        [](const LayerDef& layer) { return !layer.innermost; });
  return layers;
}

// Calls that are a write of a second file, too.
std::string copies() {
  std::string list;
  for (const std::string_view name : trace::kCopyNames) {
    list += list.empty() ? "('" : ", '";
    list.append(name).append("'");
  }
  return "(layer IN ('posix', 'syscall') AND name IN " + list + "))";
}

// Self times of events add up to no more than threads lived. What is added up in the kernel lies
// inside of these, and its layers lie inside each other: a sum is of the first of them that there
// is. Allocations may lie inside of events or not: the longer of both is certain. Requests to
// devices overlap: their sum is no time of threads.
std::string in_calls() {
  const std::string others = list_of([](const LayerDef& layer) {
    return layer.device || layer.inside || layer.sums || layer.name == "heap";
  });
  std::string text = "coalesce(greatest(sum(self) FILTER (coalesce(layer NOT IN " + others +
                     ", true)), sum(self) FILTER (layer = 'heap'))";
  for (const bool kernel : {true, false}) {
    for (const LayerDef& layer : inward())
      if (layer.inside && layer.kernel == kernel)
        text.append(", sum(self) FILTER (layer = '").append(layer.name).append("')");
  }
  return text + ")";
}

std::string kernel_inward() {
  std::string list;
  for (const LayerDef& layer : inward())
    if (layer.kernel) list.append(list.empty() ? "['" : ", '").append(layer.name).append("'");
  return list + ']';
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Rules of users have texts of their own: "me@io" and "@iota" are none of our words.
bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  const bool begins = at == 0 || !is_word(text[at - 1]);
  return begins && (at + size == text.size() || !is_word(text[at + size]));
}

void replace_all(std::string& text, std::string_view word, const std::string& by) {
  std::size_t at = text.find(word);
  while (at != std::string::npos) {
    const bool is_meant = stands_alone(text, at, word.size());
    if (is_meant) text.replace(at, word.size(), by);
    at = text.find(word, at + (is_meant ? by.size() : word.size()));
  }
}

}  // namespace

std::string layer_sql(std::string_view query) {
  static const std::pair<std::string_view, std::string> kWords[] = {
      {"@io", list_of([](const LayerDef& layer) { return layer.io; })},
      {"@code", list_of([](const LayerDef& layer) { return layer.code; })},
      {"@own", list_of([](const LayerDef& layer) { return layer.io || layer.code; })},
      {"@kernel", list_of([](const LayerDef& layer) { return layer.kernel; })},
      {"@device", list_of([](const LayerDef& layer) { return layer.device; })},
      {"@beside", list_of([](const LayerDef& layer) { return !layer.in_threads; })},
      {"@copies", copies()},
      {"@in_calls", in_calls()},
      {"@outermost", "coalesce(" + in_calls() + ", sum(self))"},
      {"@summary", "(SELECT *, " + once_sql("host, pid") + " AS once, " +
                       once_sql("host, pid", "file") + " AS once_in_file FROM summary)"},
      {"@undevice", "coalesce(layer NOT IN " +
                        list_of([](const LayerDef& layer) { return layer.device; }) + ", true)"}};
  std::string text(query);
  for (const auto& [word, by] : kWords) replace_all(text, word, by);
  return text;
}

// The kernel sees the calls again that the library saw, and its layers see those of the layers
// above them. What the library did not see of a file, its loader's reads or what was written by
// io_uring, is told by the outermost layer of the kernel that knows the file.
std::string once_sql(std::string_view who, std::string_view file) {
  static const std::string kIo = list_of([](const LayerDef& layer) { return layer.io; });
  static const std::string kOrder = kernel_inward();
  static const std::string kKernel = list_of([](const LayerDef& layer) { return layer.kernel; });
  return fmt::format(
      "(coalesce(layer NOT IN {kernel}, true) OR"
      " (NOT bool_or(coalesce(layer IN {io}, false)) OVER (PARTITION BY {who}, {file}, category) "
      "AND"
      " coalesce(list_position({order}, layer) = min(nullif(list_position({order}, layer), 0))"
      " OVER (PARTITION BY {who}, {file}), false)))",
      fmt::arg("kernel", kKernel), fmt::arg("io", kIo), fmt::arg("order", kOrder),
      fmt::arg("who", who), fmt::arg("file", file));
}

}  // namespace fathom::analysis
