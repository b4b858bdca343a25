// SPDX-License-Identifier: MIT
// Written here because DFTracer's format names files by MD5, and no other part of the house needs a
// crypto library.
#include "base/md5.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

namespace fathom {
namespace {

using State = std::array<std::uint32_t, 4>;
constexpr std::size_t kBlock = 64;

// The constants are the first 32 bits of |sin(i + 1)|.
std::array<std::uint32_t, 64> make_sines() {
  std::array<std::uint32_t, 64> sines{};
  for (std::size_t i = 0; i < sines.size(); ++i) {
    sines[i] = static_cast<std::uint32_t>(
        std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
  }
  return sines;
}

std::uint32_t word_at(const char* at) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(at);
  return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// The mixing function and the word of the block that a step uses.
struct Step {
  std::uint32_t mixed;
  std::size_t word;
};

Step step_of(std::size_t i, const State& s) {
  const auto [a, b, c, d] = s;
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(d & b) | (~d & c), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), (7 * i) % 16};
  }
}

void add_block(State& state, const char* block) {
  static const std::array<std::uint32_t, 64> sines = make_sines();
  static constexpr int kTurns[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  State s = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const Step step = step_of(i, s);
    const std::uint32_t sum = s[0] + step.mixed + sines[i] + word_at(block + 4 * step.word);
    s = {s[3], s[1] + std::rotl(sum, kTurns[i / 16][i % 4]), s[1], s[2]};
  }
  for (std::size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

}  // namespace

std::array<std::uint8_t, 16> md5(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::size_t whole = bytes.size() / kBlock * kBlock;
  for (std::size_t at = 0; at < whole; at += kBlock) add_block(state, bytes.data() + at);
  // The rest, a bit, zeros, and the length in bits.
  std::string tail(bytes.substr(whole));
  tail += '\x80';
  while (tail.size() % kBlock != kBlock - 8) tail += '\0';
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (int shift = 0; shift < 64; shift += 8) tail += static_cast<char>(bits >> shift);
  for (std::size_t at = 0; at < tail.size(); at += kBlock) add_block(state, tail.data() + at);

  std::array<std::uint8_t, 16> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (8 * (i % 4)));
  }
  return digest;
}

}  // namespace fathom
