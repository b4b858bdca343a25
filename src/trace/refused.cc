// SPDX-License-Identifier: MIT
#include "trace/refused.h"

#include "base/text.h"
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

}  // namespace fathom::trace
