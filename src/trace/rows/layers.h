// SPDX-License-Identifier: MIT
// The layers that exist, whether or not this build can record them: the one list of them, and what
// each is. Those of in-process sources come from wire/sources.h, the others stand here.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/sources.h"

namespace fathom::trace {

// One layer, as a constant.
struct LayerDef {
  std::string_view name;
  std::string_view what;
  bool by_default = false;       // recorded where nobody says otherwise
  int rank = 0;                  // where it stands, top down
  std::string_view colour;       // as Firefox's profiler names it; "": none of its own
  std::string_view light, dark;  // #rrggbb on a light page and on a dark one; "": none of its own
  bool code = false;             // the program's own functions and regions
  bool io = false;               // calls of the program that read and write files
  bool kernel = false;           // what the kernel does
  bool device = false;           // what a device does: its time is no thread's
  bool in_threads = true;  // its events nest in a thread's; else they overlap, or are of no thread
  bool inside = false;     // added up; its time is that of calls of other layers once more
  bool sums = false;       // added up; its time may lie inside that of other layers or not
  bool innermost = false;  // threads wait in it, which is inside of all others
};

// Beside FATHOM_LAYER_…, what no layer of an in-process source is: see LayerDef.
inline constexpr unsigned kLayerInside = 1U << 16U;
inline constexpr unsigned kLayerSums = 1U << 17U;
inline constexpr unsigned kLayerInnermost = 1U << 18U;

// Of three, with a blank between them; "" for "-", and of an empty text.
constexpr std::string_view word_of(std::string_view text, int place) {
  for (; place > 0; --place) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  const std::string_view word = text.substr(0, text.find(' '));
  return word == "-" ? "" : word;
}

constexpr LayerDef layer_def(std::string_view name, int rank, std::string_view colours,
                             std::string_view what, unsigned flags) {
  const auto has = [flags](unsigned flag) { return (flags & flag) != 0; };
  return {.name = name,
          .what = what,
          .by_default = has(FATHOM_LAYER_USUAL),
          .rank = rank,
          .colour = word_of(colours, 0),
          .light = word_of(colours, 1),
          .dark = word_of(colours, 2),
          .code = has(FATHOM_LAYER_CODE),
          .io = has(FATHOM_LAYER_IO),
          .kernel = has(FATHOM_LAYER_KERNEL),
          .device = has(FATHOM_LAYER_DEVICE),
          .in_threads = !has(FATHOM_LAYER_BESIDE),
          .inside = has(kLayerInside),
          .sums = has(kLayerSums),
          .innermost = has(kLayerInnermost)};
}

consteval auto all_layers() {
  std::array layers = {
#define ROW(number, NAME, space, layer, rank, colour, what, first, kinds, needs, flags, ...) \
  layer_def(layer, rank, colour, what, flags),
      FATHOM_SOURCE_ROWS(ROW)
#undef ROW
          layer_def("user", 60, "lightblue #f5d76e #c9ab30",
                    "functions of any program or library, by probes", kLayerInside),
      layer_def("syscall", 70, "red #35558f #a9b4ea", "system calls",
                FATHOM_LAYER_KERNEL | kLayerInside),
      layer_def("sched", 80, "- #858e9d #727b8a", "waiting for a CPU",
                FATHOM_LAYER_KERNEL | FATHOM_LAYER_BESIDE | kLayerInside | kLayerInnermost),
      layer_def("vfs", 90, "- #6fc3f2 #2b8fc4", "the kernel's virtual file system",
                FATHOM_LAYER_KERNEL | kLayerInside),
      layer_def("fs", 100, "- #e08e57 #d5742f", "the file systems",
                FATHOM_LAYER_KERNEL | kLayerInside),
      layer_def("pagecache", 110, "- #e8c39e #b78b5c", "the page cache",
                FATHOM_LAYER_KERNEL | kLayerInside),
      layer_def("kernel", 115, "", "functions and tracepoints of the kernel, by name",
                FATHOM_LAYER_KERNEL | kLayerInside),
      layer_def("block", 120, "- #d55e00 #d55e00", "block devices",
                FATHOM_LAYER_KERNEL | FATHOM_LAYER_BESIDE | kLayerSums),
      layer_def("net", 130, "- #cc79a7 #c06a9a", "network connections",
                FATHOM_LAYER_KERNEL | FATHOM_LAYER_BESIDE | kLayerSums),
      layer_def("cpu", 160, "darkgrey #e69f00 #c98a00",
                "where threads spend their time: sampled call stacks", FATHOM_LAYER_USUAL),
      layer_def("resource", 170, "- #8899aa #778899",
                "CPU, memory and I/O used by processes, control group and machine",
                FATHOM_LAYER_USUAL),
  };
  std::ranges::sort(layers, {}, &LayerDef::rank);
  return layers;
}

// Top down.
inline constexpr auto kLayers = all_layers();

// The one of sampled stacks.
inline constexpr std::string_view kSampledLayer = "cpu";

// nullptr: no such layer in this version; a recording of another one may have it.
constexpr const LayerDef* find_layer(std::string_view name) {
  const auto* const found = std::ranges::find(kLayers, name, &LayerDef::name);
  return found == kLayers.end() ? nullptr : found;
}

// What is so of a layer; an unknown one is none of these, and its events are of threads.
constexpr bool is_layer(std::string_view name, bool LayerDef::*what, bool unknown = false) {
  const LayerDef* layer = find_layer(name);
  return layer != nullptr ? layer->*what : unknown;
}
constexpr bool is_code(std::string_view layer) { return is_layer(layer, &LayerDef::code); }
constexpr bool is_io(std::string_view layer) { return is_layer(layer, &LayerDef::io); }
constexpr bool is_kernel(std::string_view layer) { return is_layer(layer, &LayerDef::kernel); }
constexpr bool is_device(std::string_view layer) { return is_layer(layer, &LayerDef::device); }
constexpr bool is_in_threads(std::string_view layer) {
  return is_layer(layer, &LayerDef::in_threads, true);
}

}  // namespace fathom::trace
