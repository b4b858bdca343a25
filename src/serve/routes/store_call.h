// SPDX-License-Identifier: MIT
// Calls of the store, with their time counted.
#pragma once

#include <chrono>

#include "serve/http/metrics.h"

namespace fathom::serve {

// Gives back what `call` gives.
template <class Call>
auto timed(Metrics& metrics, Call call) {
  const auto start = std::chrono::steady_clock::now();
  auto result = call();
  metrics.count_store_time(std::chrono::steady_clock::now() - start);
  return result;
}

}  // namespace fathom::serve
