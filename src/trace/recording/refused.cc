// SPDX-License-Identifier: MIT
// Only settings and layers that we know reach the manifest, in our own words: a process may claim
// anything about itself.
#include "trace/recording/refused.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "trace/rows/layers.h"
#include "wire/exec.h"

namespace fathom::trace {

// A process may claim anything: only what is known is told, and in words of ours.
void add_refused_settings(const Definitions& definitions,
                          std::map<std::string, std::string>& facts) {
  for (const auto& process : definitions.processes()) {
    const std::string_view value =
        definitions.meta(*process, FATHOM_META_REFUSED FATHOM_SPOOL_MAX_VARIABLE);
    if (value.empty()) continue;
    facts[FATHOM_SPOOL_MAX_VARIABLE] =
        "'" + escape_control(value) + "' is not a size; the spool could take 4 GiB";
  }
}

// What a process told about a layer that it could not record, META `reason:<layer>`, or not all of
// it, `partial:<layer>`.
void take_reasons(const Definitions& definitions, const Process& process, Manifest& to) {
  constexpr std::string_view kNothing = "reason:";
  constexpr std::string_view kPart = "partial:";
  for (const auto& [key_id, value_id] : process.meta) {
    const std::string_view key = definitions.text(process, key_id);
    const bool part = key.starts_with(kPart);
    if (!part && !key.starts_with(kNothing)) continue;
    const std::string name = escape_invalid_utf8(key.substr((part ? kPart : kNothing).size()));
    if (std::ranges::find(kLayers, name, &LayerDef::name) == std::end(kLayers)) continue;
    LayerState& layer = to.layer(name);
    // Which interpreter a program runs is not known before: the layer was on for none of these.
    const bool unheard = part || name == "python";
    if (unheard && layer.state == "on") layer.state = "partial";
    if (layer.reason.empty())
      layer.reason = escape_invalid_utf8(definitions.text(process, value_id));
  }
}

}  // namespace fathom::trace
