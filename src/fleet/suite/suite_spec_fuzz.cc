// SPDX-License-Identifier: MIT
// Any bytes as a suite, and as what Slurm's tools and a worker leave: read, or refused in one line
// that names the place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fleet/executors/slurm_text.h"
#include "fleet/executors/work_place.h"
#include "fleet/suite/suite_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::fleet;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse_squeue(text);
  (void)parse_sbatch(text);
  (void)parse_outcome(text);
  const auto spec = parse_suite(text, "s");
  if (spec) {
    if (spec->entries.empty()) std::abort();
    if (const auto items = items_of(*spec); items && items->size() > kMostItems) std::abort();
    return 0;
  }
  const std::string& message = spec.error().message;
  if (message.find('\n') != std::string::npos || !message.starts_with("s")) std::abort();
  return 0;
}
