// SPDX-License-Identifier: MIT
// Numbers as Parquet and Thrift write them. Included by .cc files of this folder only.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace fathom::sql::parquet {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

template <class T>
void put_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put_raw(std::string& out, std::span<const T> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

inline void put_zigzag(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  put_varint(out, (bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

// How many bits hold every number up to `most`.
inline unsigned bits_for(std::uint64_t most) { return static_cast<unsigned>(std::bit_width(most)); }

// Appends `values`, `width` bits of each, the lowest first. Their number is a multiple of eight.
template <class T>
void put_bits(std::string& out, std::span<const T> values, unsigned width) {
  const std::size_t begin = out.size();
  const std::size_t bytes = values.size() * width / 8;
  std::uint64_t word = 0;
  out.resize(begin + bytes + sizeof word);
  char* at = out.data() + begin;
  unsigned filled = 0;
  for (const T one : values) {
    const auto value = static_cast<std::uint64_t>(one);
    word |= value << filled;
    filled += width;
    if (filled < 64) continue;
    std::memcpy(at, &word, sizeof word);
    at += sizeof word;
    filled -= 64;
    word = filled == 0 ? 0 : value >> (width - filled);
  }
  std::memcpy(at, &word, sizeof word);
  out.resize(begin + bytes);
}

}  // namespace fathom::sql::parquet
