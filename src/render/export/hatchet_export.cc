// SPDX-License-Identifier: MIT
// Trees of calls as the list of dictionaries that Hatchet's GraphFrame.from_literal takes: a tree
// for each process, its program on top. Where a recording has no calls, trees of its samples.
#include <string>
#include <vector>

#include "render/export/exporter.h"
#include "render/export/json_fields.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

constexpr double kNsPerSecond = 1e9;

// One process's tree with sums that the stacks do not have: of everything below a node.
class CallTree {
 public:
  CallTree(const StackProfile& profile, const ProfileKey& key, const StackSums& stacks)
      : frames_(profile.frames.frames()),
        program_(profile.program(key)),
        is_time_(key.event.empty()),
        stacks_(stacks),
        below_(stacks.tree.size()),
        children_(stacks.tree.size()) {
    for (std::uint32_t node = stacks.tree.size(); node-- > 0;) {
      below_[node] += amount(node);
      if (node == StackTree::kRoot) continue;
      const std::uint32_t parent = stacks.tree.node(node).parent;
      below_[parent] += below_[node];
      children_[parent].push_back(node);  // the last one first: it is taken from the end
    }
  }

  // Stacks may be deep: no recursion.
  Status write(SinkBuffer& buffer) {
    std::vector<std::uint32_t> open = {StackTree::kRoot};
    begin(buffer.text(), StackTree::kRoot);
    bool is_behind_sibling = false;
    while (!open.empty()) {
      std::vector<std::uint32_t>& waiting = children_[open.back()];
      if (waiting.empty()) {
        buffer.text() += "]}";
        open.pop_back();
        is_behind_sibling = true;
      } else {
        const std::uint32_t next = waiting.back();
        waiting.pop_back();
        if (is_behind_sibling) buffer.text() += ',';
        begin(buffer.text(), next);
        open.push_back(next);
        is_behind_sibling = false;
      }
      FATHOM_TRY(buffer.flush_if_large());
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t amount(std::uint32_t node) const {
    return node < stacks_.sums.size() ? stacks_.sums[node].amount : 0;
  }

  void add_metric(JsonFields& metrics, std::string_view name, std::int64_t value) const {
    append_real(metrics.key(name),
                is_time_ ? static_cast<double>(value) / kNsPerSecond : static_cast<double>(value));
  }

  // Times in seconds, as Hatchet's own readers give them.
  void begin(std::string& out, std::uint32_t node) const {
    const bool is_root = node == StackTree::kRoot;
    out += "{\"frame\":{";
    JsonFields frame(out);
    frame.text("name", is_root ? program_ : frames_[stacks_.tree.node(node).frame].text);
    frame.text("type", is_root ? "program" : "function");
    out += "},\"metrics\":{";
    JsonFields metrics(out);
    add_metric(metrics, "time", amount(node));
    add_metric(metrics, "time (inc)", below_[node]);
    metrics.number("calls", node < stacks_.sums.size() ? stacks_.sums[node].count : 0);
    out += "},\"children\":[";
  }

  const std::vector<FrameInfo>& frames_;
  std::string program_;
  bool is_time_;
  const StackSums& stacks_;
  std::vector<std::int64_t> below_;
  std::vector<std::vector<std::uint32_t>> children_;
};

Status write(EventStream& from, ByteSink& to) {
  StackProfile profile;
  FATHOM_TRY(profile.load(from));
  bool has_calls = false;
  for (const auto& [key, stacks] : profile.stacks) has_calls |= key.event.empty();
  SinkBuffer buffer(to);
  buffer.text() += '[';
  bool first = true;
  for (const auto& [key, stacks] : profile.stacks) {
    if (has_calls != key.event.empty()) continue;
    buffer.text() += first ? "\n" : ",\n";
    first = false;
    FATHOM_TRY(CallTree(profile, key, stacks).write(buffer));
  }
  buffer.text() += "\n]\n";
  return buffer.flush();
}

}  // namespace

extern const ExporterDef kHatchetExporter;
const ExporterDef kHatchetExporter = {
    .name = "hatchet",
    .summary = "trees of calls as JSON, for Hatchet's GraphFrame.from_literal",
    .gzip = Gzip::kByName,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
