// SPDX-License-Identifier: MIT
// Any bytes as what an engine answers: values, or nothing; never a crash, and no line end in words
// for people.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "containers/control_groups.h"
#include "containers/engine_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::containers;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json answer = parse_answer(text);
  (void)image_facts(answer);
  (void)container_state(answer);
  (void)parse_time(text);
  (void)agree_on_version(text, text);
  (void)group_in(text);
  for (const ListedContainer& one : listed_containers(answer, "fathom.owner")) {
    if (!is_id(one.id)) std::abort();
  }
  if (refusal_in(text).find('\n') != std::string::npos) std::abort();
  PullProgress progress;
  progress.feed(text);
  progress.refused();
  if (progress.error().find('\n') != std::string::npos) std::abort();
  return 0;
}
