// SPDX-License-Identifier: MIT
#include "fleet/recordings/content_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "fleet/sha256.h"

namespace fathom::fleet {
namespace {

constexpr std::uint64_t kSize = 100;

RecordedFile file_of(char letter) {
  Sha256 hash;
  hash.add(std::string(kSize, letter));
  return {.name = std::string(1, letter), .size = kSize, .sha256 = hash.hex()};
}

class ContentCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    ASSERT_TRUE(make_dirs(root_));
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  // As if it had been used so many hours ago.
  void keep(const ContentCache& cache, char letter, int hours_ago) {
    const RecordedFile file = file_of(letter);
    const std::string path = root_ + "/" + file.name;
    ASSERT_TRUE(write_file_atomic(path, std::string(kSize, letter)));
    const Result<Directory> from = Directory::open(root_);
    cache.keep(file, *from, file.name);
    timespec times[2] = {};
    ::clock_gettime(CLOCK_REALTIME, times);
    times[0].tv_sec -= static_cast<std::time_t>(hours_ago) * 3600;
    times[1] = times[0];
    ::utimensat(AT_FDCWD, kept(letter).c_str(), times, 0);
  }
  [[nodiscard]] bool has(char letter) const { return path_exists(kept(letter)); }
  [[nodiscard]] std::string kept(char letter) const {
    return root_ + "/cache/contents/" + file_of(letter).sha256;
  }
  // One that is in use, whatever its age.
  static bool take(const ContentCache& cache, const CacheRoom& room, char letter) {
    const Result<Directory> to = Directory::open(room.place.path());
    return cache.take(file_of(letter), *to, std::string(1, letter));
  }

  std::string root_ = ::testing::TempDir() + "content-cache";
};

TEST_F(ContentCacheTest, WhatWasNotUsedForTheLongestTimeGoes) {
  const Result<ContentCache> cache = ContentCache::open(root_ + "/cache", 3 * kSize);
  ASSERT_TRUE(cache) << cache.error().message;
  // In no order of names or hashes: each of them is the oldest once.
  const std::string letters = "abcdefgh";
  for (std::size_t oldest = 0; oldest < 3; ++oldest) {
    for (std::size_t i = 0; i < 3; ++i) keep(*cache, letters[i], i == oldest ? 9 : 1);
    keep(*cache, 'x', 0);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(has(letters[i]), i != oldest) << oldest << i;
    EXPECT_TRUE(has('x')) << oldest;
    for (const char letter : {'a', 'b', 'c', 'x'}) std::filesystem::remove(kept(letter));
  }
}

TEST_F(ContentCacheTest, WhatIsTakenIsUsed) {
  const Result<ContentCache> cache = ContentCache::open(root_ + "/cache", 2 * kSize);
  ASSERT_TRUE(cache) << cache.error().message;
  const Result<CacheRoom> room = cache->make_room();
  ASSERT_TRUE(room) << room.error().message;
  keep(*cache, 'a', 9);
  keep(*cache, 'b', 5);
  ASSERT_TRUE(take(*cache, *room, 'a'));
  EXPECT_FALSE(take(*cache, *room, 'c')) << "it was never kept";
  keep(*cache, 'c', 0);
  EXPECT_TRUE(has('a'));
  EXPECT_FALSE(has('b'));
  EXPECT_TRUE(has('c'));
}

TEST_F(ContentCacheTest, WhatIsLargerThanTheCacheIsNotKept) {
  const Result<ContentCache> cache = ContentCache::open(root_ + "/cache", kSize - 1);
  ASSERT_TRUE(cache) << cache.error().message;
  keep(*cache, 'a', 0);
  EXPECT_FALSE(has('a'));
}

}  // namespace
}  // namespace fathom::fleet
