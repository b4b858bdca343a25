// SPDX-License-Identifier: MIT
#include "analysis/canvas/pile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace fathom::analysis {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_at(const Pile& pile, std::uint64_t place, std::size_t length) {
  return {reinterpret_cast<const char*>(pile.at(place)), length};
}

TEST(Pile, GivesBackWhatWasWrittenFromMemoryAndFromAFile) {
  for (const std::size_t buffer : {4U, 100U, 1U << 20U}) {
    Pile pile(buffer);
    std::vector<std::uint64_t> places;
    for (int i = 0; i < 1000; ++i) places.push_back(pile.append(bytes_of(std::to_string(i))));
    ASSERT_TRUE(pile.seal());
    for (int i = 0; i < 1000; i += 13) {
      const std::string wanted = std::to_string(i);
      EXPECT_EQ(text_at(pile, places[static_cast<std::size_t>(i)], wanted.size()), wanted);
    }
    pile.rest();
    EXPECT_EQ(text_at(pile, places[999], 3), "999");
  }
}

// Restores the environment.
class NoScratch {
 public:
  NoScratch() {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    setenv("TMPDIR", "/nowhere/at/all", 1);
  }
  ~NoScratch() { before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1); }
  NoScratch(const NoScratch&) = delete;
  NoScratch& operator=(const NoScratch&) = delete;

 private:
  std::string before_;
};

TEST(Pile, NoRoomIsSaidAtTheEnd) {
  const NoScratch none;
  Pile small(100);
  small.append(bytes_of("stays in memory"));
  EXPECT_TRUE(small.seal());
  Pile large(10);
  for (int i = 0; i < 100; ++i) large.append(bytes_of("does not"));
  const Status sealed = large.seal();
  ASSERT_FALSE(sealed);
  EXPECT_FALSE(sealed.error().message.empty());
}

}  // namespace
}  // namespace fathom::analysis
