// SPDX-License-Identifier: MIT
// SipHash-2-4 with 128 bits over strings: nobody who does not know the key, which every process
// draws anew, can make two names meet. So a table can hold the hash in place of the names.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fathom::fleet {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};

// For one hash: add() any number of times, then finish() once.
class KeyedHash {
 public:
  explicit KeyedHash(const Hash128& key)
      : v0_(key.low ^ 0x736f6d6570736575U),
        v1_(key.high ^ 0x646f72616e646f6dU ^ 0xeeU),
        v2_(key.low ^ 0x6c7967656e657261U),
        v3_(key.high ^ 0x7465646279746573U) {}

  // With its length, so that "ab", "c" and "a", "bc" differ.
  void add(std::string_view bytes) {
    add_word(bytes.size());
    while (bytes.size() >= sizeof(std::uint64_t)) {
      add_word(word_at(bytes.data(), sizeof(std::uint64_t)));
      bytes.remove_prefix(sizeof(std::uint64_t));
    }
    if (!bytes.empty()) add_word(word_at(bytes.data(), bytes.size()));
  }

  [[nodiscard]] Hash128 finish() {
    v2_ ^= 0xeeU;
    rounds(4);
    const std::uint64_t low = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xddU;
    rounds(4);
    return {low, v0_ ^ v1_ ^ v2_ ^ v3_};
  }

 private:
  static std::uint64_t word_at(const char* bytes, std::size_t length) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, length);
    return word;
  }
  void add_word(std::uint64_t word) {
    v3_ ^= word;
    rounds(2);
    v0_ ^= word;
  }
  void rounds(int count) {
    for (int round = 0; round < count; ++round) {
      v0_ += v1_;
      v2_ += v3_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v1_;
      v0_ += v3_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace fathom::fleet
