// SPDX-License-Identifier: MIT
#include "render/export/byte_sink.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace fathom::render {
namespace {

class ByteSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "byte-sink-XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    path_ = root_ + "/out.gz";
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(root_)); }

  void append(std::string_view bytes) const {
    Result<ByteSink> sink = ByteSink::append(path_, true);
    ASSERT_TRUE(sink);
    if (!bytes.empty()) {
      ASSERT_TRUE(sink->write(bytes));
    }
    ASSERT_TRUE(sink->finish());
  }

  // How much text each gzip member of the file has.
  [[nodiscard]] std::vector<std::size_t> members() const {
    std::string packed = read_file(path_).value();
    std::vector<std::size_t> sizes;
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string room(1 << 20, '\0');
    while (stream.avail_in > 0) {
      int status = Z_OK;
      while (status == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(room.data());
        stream.avail_out = static_cast<uInt>(room.size());
        status = inflate(&stream, Z_NO_FLUSH);
      }
      EXPECT_EQ(status, Z_STREAM_END);
      if (status != Z_STREAM_END) break;
      sizes.push_back(stream.total_out);
      inflateReset(&stream);
    }
    inflateEnd(&stream);
    return sizes;
  }

  std::string root_;
  std::string path_;
};

using Sizes = std::vector<std::size_t>;

TEST_F(ByteSinkTest, WhoAppendsNothingLeavesTheFileAsItIs) {
  append("abc");
  append("");
  append("de");
  EXPECT_EQ(members(), (Sizes{3, 2}));
}

TEST_F(ByteSinkTest, NoEmptyMemberFollowsAFullOne) {
  constexpr std::size_t kFull = std::size_t{16} << 20;
  Result<ByteSink> sink = ByteSink::open(path_, true);
  ASSERT_TRUE(sink);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(sink->write(std::string(kFull / 4, 'x')));
  ASSERT_TRUE(sink->finish());
  EXPECT_EQ(members(), Sizes{kFull});
}

TEST_F(ByteSinkTest, AnEmptyFileIsGzipToo) {
  Result<ByteSink> sink = ByteSink::open(path_, true);
  ASSERT_TRUE(sink);
  ASSERT_TRUE(sink->finish());
  EXPECT_EQ(members(), Sizes{0});
}

}  // namespace
}  // namespace fathom::render
