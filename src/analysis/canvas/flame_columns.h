// SPDX-License-Identifier: MIT
// What the trees of flame graphs share while they are made: numbered functions, and the columns of
// the picture, whose texts stand once each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/canvas/flame.h"

namespace fathom::analysis {

// Functions by number: a name in a layer or module. One thread at a time; at() gives a reference
// until the next number().
class FlameFrames {
 public:
  struct Frame {
    std::string name;
    std::string layer;
  };
  std::uint32_t number(std::string_view name, std::string_view layer) {
    std::string key(layer);
    key += '\n';
    key += name;
    const auto [found, fresh] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(frames_.size()));
    if (fresh) frames_.push_back({std::string(name), std::string(layer)});
    return found->second;
  }
  [[nodiscard]] const Frame& at(std::uint32_t number) const { return frames_[number]; }

 private:
  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// What a node of a tree has while it is added up.
struct FlameSum {
  std::int64_t self = 0;
  std::int64_t calls = 0;
  std::int64_t start = INT64_MAX;
};

// Nodes of the picture, numbered as they come.
class FlameColumns {
 public:
  FlameColumns() { text(""); }
  std::int32_t add(std::int32_t parent, const std::string& name, const std::string& layer,
                   std::int64_t self, std::int64_t total) {
    flame.parent.push_back(parent);
    flame.name.push_back(text(name));
    flame.layer.push_back(text(layer));
    flame.self.push_back(self);
    flame.totals.push_back(total);
    flame.calls.push_back(0);
    flame.start.push_back(0);
    return static_cast<std::int32_t>(flame.parent.size() - 1);
  }
  Flame flame;

 private:
  std::uint32_t text(const std::string& text) {
    const auto [found, fresh] =
        texts_.try_emplace(text, static_cast<std::uint32_t>(flame.names.size()));
    if (fresh) flame.names.push_back(text);
    return found->second;
  }
  std::unordered_map<std::string, std::uint32_t> texts_;
};

[[nodiscard]] inline std::string smaller_words(std::int64_t nodes) {
  return "(" + std::to_string(nodes) + " smaller)";
}

}  // namespace fathom::analysis
