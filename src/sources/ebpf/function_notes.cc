// SPDX-License-Identifier: MIT
// Words for what is missing, by reason. At most eight names are listed: a regular expression may
// match thousands of functions.
#include "sources/ebpf/function_notes.h"

#include <map>

#include "base/text.h"
#include "sources/ebpf/calls.h"

namespace fathom::sources::ebpf {
namespace {

constexpr std::size_t kNamed = 8;
constexpr char kTimeThem[] = "; --returns times them too, but may crash the program";

std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= kNamed) return join(names, ", ");
  return join({names.begin(), names.begin() + kNamed}, ", ") + " and " +
         std::to_string(names.size() - kNamed) + " more";
}

using ByReason = std::map<std::string, std::vector<std::string>>;

std::string in_words(const std::string& begin, const ByReason& all) {
  std::vector<std::string> words;
  for (const auto& [why, names] : all) words.push_back(some_of(names) + " (" + why + ")");
  return begin + join(words, ", ");
}

}  // namespace

std::string lack_of(const Functions& functions, fathom_bpf_layer layer, bool knows_programs) {
  const bool of_kernel = layer == FATHOM_BPF_KERNEL;
  ByReason untimed;
  ByReason without;
  std::vector<std::string> sometimes;
  for (const Function& function : functions.probed) {
    if (function.is_of_kernel() != of_kernel) continue;
    if (function.times == Times::kKnown || function.why.empty()) continue;
    if (knows_programs && function.times == Times::kInPlainPrograms)
      sometimes.push_back(function.name);
    else
      untimed[function.why].push_back(function.name);
  }
  for (const Unprobed& one : functions.unprobed) {
    if (one.of_kernel == of_kernel) without[one.why].push_back(one.name);
  }
  std::vector<std::string> parts;
  if (!untimed.empty())
    parts.push_back(in_words("entry only, times unknown: ", untimed) + kTimeThem);
  if (!sometimes.empty())
    parts.push_back("entry only, times unknown, in programs that exceptions may pass through: " +
                    some_of(sometimes) + kTimeThem);
  if (!without.empty()) parts.push_back(in_words("not recorded: ", without));
  if (!of_kernel) parts.insert(parts.end(), functions.remarks.begin(), functions.remarks.end());
  return join(parts, "; ");
}

std::vector<trace::Loss> losses_of(const std::vector<Unprobed>& unprobed) {
  std::vector<trace::Loss> losses;
  for (const Unprobed& one : unprobed) {
    const std::string layer(name_of_layer(one.of_kernel ? FATHOM_BPF_KERNEL : FATHOM_BPF_USER));
    if (losses.size() == kNamed) {
      losses.push_back({layer, "functions without a probe", 0});
      losses.back().count = static_cast<std::int64_t>(unprobed.size() - kNamed);
      break;
    }
    losses.push_back({layer, "function " + one.name + " without a probe: " + one.why, 1});
  }
  return losses;
}

}  // namespace fathom::sources::ebpf
