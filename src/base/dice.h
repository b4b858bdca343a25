// SPDX-License-Identifier: MIT
// Random numbers that are the same for the same seed on every machine, unlike those of the standard
// library's distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace fathom {

// Owns its engine. One thread at a time: each number depends on those before it.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // 0 to count - 1, each as likely as the others; `count` is not 0.
  std::size_t below(std::size_t count) {
    const std::uint64_t range = count;
    const std::uint64_t beyond = -range % range;  // as many of the lowest would be one too many
    std::uint64_t number = engine_();
    while (number < beyond) number = engine_();
    return static_cast<std::size_t>(number % range);
  }

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fathom
