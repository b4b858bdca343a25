// SPDX-License-Identifier: MIT
// DELTA_BINARY_PACKED after the Parquet specification: blocks of 256 values, miniblocks of 32, each
// with a width of its own.
#include "sql/parquet/delta.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "sql/parquet/bytes.h"

namespace fathom::sql::parquet {
namespace {

constexpr std::size_t kMiniblock = 32;
constexpr std::size_t kMiniblocks = 8;
constexpr std::size_t kBlock = kMiniblock * kMiniblocks;

// Differences wrap round, as readers expect: the widest one of a type takes its bits and no more.
template <class T>
class Block {
 public:
  using Bits = std::make_unsigned_t<T>;

  // The differences of values[i] to the one before, which `before` is for the first.
  Block(std::span<const T> values, T before) : count_(values.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      deltas_[i] = static_cast<Bits>(values[i]) - static_cast<Bits>(before);
      before = values[i];
    }
    T least = static_cast<T>(deltas_[0]);
    for (std::size_t i = 1; i < count_; ++i) least = std::min(least, static_cast<T>(deltas_[i]));
    for (std::size_t i = 0; i < count_; ++i) deltas_[i] -= static_cast<Bits>(least);
    least_ = least;
  }

  void put(std::string& out) const {
    put_zigzag(out, least_);
    std::array<unsigned, kMiniblocks> widths{};
    for (std::size_t i = 0; i < kMiniblocks; ++i) {
      Bits all = 0;
      for (const Bits delta : miniblock(i)) all |= delta;
      widths[i] = bits_for(all);
      out += static_cast<char>(widths[i]);
    }
    for (std::size_t i = 0; i * kMiniblock < count_; ++i) put_bits(out, miniblock(i), widths[i]);
  }

 private:
  // Behind the last value there are zeros.
  [[nodiscard]] std::span<const Bits> miniblock(std::size_t i) const {
    return std::span<const Bits>(deltas_).subspan(i * kMiniblock, kMiniblock);
  }

  std::array<Bits, kBlock> deltas_{};
  std::size_t count_;
  T least_;
};

template <class T>
void put_blocks(std::string& out, std::span<const T> values) {
  put_varint(out, kBlock);
  put_varint(out, kMiniblocks);
  put_varint(out, values.size());
  put_zigzag(out, values.empty() ? T{0} : values.front());
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - at);
    Block<T>(values.subspan(at, count), values[at - 1]).put(out);
  }
}

}  // namespace

void put_deltas(std::string& out, std::span<const std::int32_t> values) { put_blocks(out, values); }
void put_deltas(std::string& out, std::span<const std::int64_t> values) { put_blocks(out, values); }

}  // namespace fathom::sql::parquet
