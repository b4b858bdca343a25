// SPDX-License-Identifier: MIT
// How often to look at what living processes write: as often as somebody wants it, as long as no
// more than a tenth of a core goes into looking.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace fathom::session {

// From before a look until after it, in one thread.
class LookPace {
 public:
  // ns from now on, where a look is wanted every so often and this one found something.
  [[nodiscard]] std::int64_t rest_ns(std::int64_t every_ns) const {
    constexpr std::int64_t kOneIn = 10;
    return std::max(every_ns, (now_thread_cpu_ns() - begin_) * (kOneIn - 1));
  }

 private:
  std::int64_t begin_ = now_thread_cpu_ns();
};

}  // namespace fathom::session
