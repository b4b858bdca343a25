// SPDX-License-Identifier: MIT
// Numbers of the wire format, and short texts.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "guest/text.h"
#include "wire/varint.h"

namespace fathom::guest {
namespace {

std::vector<uint64_t> interesting_numbers() {
  std::vector<uint64_t> numbers = {0, 1, 2, std::numeric_limits<uint64_t>::max()};
  for (unsigned bit = 1; bit < 64; bit++) {
    const uint64_t power = UINT64_C(1) << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1, ~power});
  }
  return numbers;
}

TEST(Varint, ComesBackAsItWent) {
  for (const uint64_t number : interesting_numbers()) {
    std::array<uint8_t, 32> bytes{};
    const uint8_t* end = fathom_put_varint(bytes.data(), number);
    uint64_t found = ~number;
    EXPECT_EQ(fathom_get_varint(bytes.data(), bytes.data() + bytes.size(), &found), end) << number;
    EXPECT_EQ(found, number);
    found = ~number;
    EXPECT_EQ(fathom_get_varint(bytes.data(), end, &found), end) << "nothing behind it: " << number;
    EXPECT_EQ(found, number);
  }
}

TEST(Varint, TakesSevenBitsAByte) {
  std::array<uint8_t, 32> bytes{};
  for (unsigned bits = 1; bits <= 64; bits++) {
    const uint64_t number = ~UINT64_C(0) >> (64 - bits);
    const auto length = fathom_put_varint(bytes.data(), number) - bytes.data();
    EXPECT_EQ(length, bits <= 56 ? (bits + 6) / 7 : 9) << bits;
  }
}

TEST(Varint, IsRefusedWhereItIsCutOff) {
  for (const uint64_t number : interesting_numbers()) {
    std::array<uint8_t, 32> bytes{};
    const auto length = fathom_put_varint(bytes.data(), number) - bytes.data();
    for (long kept = 0; kept < length; kept++) {
      uint64_t found = 0;
      EXPECT_EQ(fathom_get_varint(bytes.data(), bytes.data() + kept, &found), nullptr) << number;
    }
  }
}

TEST(Zigzag, ComesBackAndKeepsSmallNumbersSmall) {
  for (const uint64_t number : interesting_numbers()) {
    const auto value = static_cast<int64_t>(number);
    EXPECT_EQ(fathom_unzigzag(fathom_zigzag(value)), value);
  }
  EXPECT_EQ(fathom_zigzag(-1), 1U);
  EXPECT_EQ(fathom_zigzag(1), 2U);
}

TEST(Text, JoinsTextsAndNumbers) {
  std::array<char, 64> room{};
  Text text(room.data(), room.size());
  text.add("fd/").add_number(0).add("-").add_number(UINT64_MAX).add("-").add_hex(0xabc0);
  EXPECT_STREQ(room.data(), "fd/0-18446744073709551615-abc0");
  EXPECT_EQ(text.length(), std::string(room.data()).size());
}

TEST(Text, IsCutAndEnded) {
  std::array<char, 9> room;
  room.fill('#');
  Text text(room.data(), 8);
  text.add("12345").add("6789").add("more").add_number(5);
  EXPECT_STREQ(room.data(), "1234567");
  EXPECT_EQ(room[8], '#') << "nothing behind its room";
}

}  // namespace
}  // namespace fathom::guest
