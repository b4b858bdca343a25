// SPDX-License-Identifier: MIT
// What a counted loss means for whoever adds up events.
#pragma once

#include "trace/decode/decoder.h"
#include "trace/rows/loss_reasons.h"

namespace fathom::trace {

// Whether events are missing, and not only the name of something, or a part of it.
[[nodiscard]] inline bool hides_events(const Loss& loss) {
  return kind_of_loss(loss.reason) != LossKind::kParts;
}
// Whether the user wanted it so: --filter, limits on numbers.
[[nodiscard]] inline bool was_asked_for(const Loss& loss) {
  return kind_of_loss(loss.reason) == LossKind::kAsked;
}
// Whether something is missing that nobody wanted to miss.
[[nodiscard]] inline bool is_lost(const Loss& loss) {
  return loss.count > 0 && !was_asked_for(loss);
}

}  // namespace fathom::trace
