// SPDX-License-Identifier: MIT
#include "containers/tar_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "containers/kept_outputs.h"
#include "containers/tar_text.h"
#include "trace/testing/spool_builder.h"

namespace fathom::containers {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using trace::testing::TempDir;

// A member of any kind, with its padding.
std::string member(const std::string& name, char kind, std::string_view content,
                   std::uint64_t told_size) {
  std::string block(512, '\0');
  block.replace(0, std::min<std::size_t>(name.size(), 100), name, 0, 100);
  block.replace(124, 11, fmt::format("{:011o}", told_size));
  block.replace(148, 8, "        ");
  block[156] = kind;
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 6, fmt::format("{:06o}", sum));
  block[154] = '\0';
  block += content;
  block.append((512 - content.size() % 512) % 512, '\0');
  return block;
}
std::string member(const std::string& name, char kind, std::string_view content = "") {
  return member(name, kind, content, content.size());
}

std::string pax(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return member("pax", 'x', std::to_string(length) + rest);
}

class Outputs : public ::testing::Test {
 protected:
  // Unpacks it in pieces, and tells what came of it.
  Status unpack(const std::string& tar, OutputBounds bounds = {}, std::size_t piece = 7) {
    (void)remove_tree(folder());
    Result<KeptOutputs> kept = KeptOutputs::make(folder(), bounds);
    if (!kept) return kept.error();
    kept->go_below("var/log");
    TarReader reader(*kept);
    Status went;
    for (std::size_t at = 0; at < tar.size() && went; at += piece)
      went = reader.feed(std::string_view(tar).substr(at, piece));
    if (went) went = reader.finish();
    kept->drop_unfinished();
    counts_ = kept->counts();
    return went;
  }
  [[nodiscard]] std::string folder() const { return temp_.path() + "/deep/outputs"; }
  [[nodiscard]] std::string text(const std::string& name) const {
    const Result<std::string> read = read_file(folder() + "/var/log/" + name);
    return read ? *read : "(none)";
  }
  void SetUp() override { ASSERT_TRUE(make_dirs(temp_.path() + "/deep")); }

  TempDir temp_;
  OutputCounts counts_;
};

TEST_F(Outputs, FilesAndFolders) {
  TarText tar;
  ASSERT_TRUE(tar.add_directory("app"));
  ASSERT_TRUE(tar.add_file("app/a.csv", "1,2\n", 0644));
  ASSERT_TRUE(tar.add_file("app/deep/b", std::string(1500, 'b'), 0644));
  ASSERT_TRUE(tar.add_file("app/empty", "", 0644));
  const std::string whole = std::move(tar).take();
  for (const std::size_t piece : {1, 511, 512, 100'000}) {
    ASSERT_TRUE(unpack(whole, {}, piece));
    EXPECT_EQ(text("app/a.csv"), "1,2\n");
    EXPECT_EQ(text("app/deep/b"), std::string(1500, 'b'));
    EXPECT_EQ(text("app/empty"), "");
    EXPECT_EQ(counts_.files, 3U);
    EXPECT_EQ(counts_.bytes, 1504U);
    EXPECT_TRUE(counts_.left_out.empty());
  }
}

TEST_F(Outputs, LongNames) {
  const std::string name = std::string(120, 'x') + "/" + std::string(90, 'y');
  const std::string gnu = member("././@LongLink", 'L', name + '\0') + member("cut", '0', "gnu");
  ASSERT_TRUE(unpack(gnu));
  EXPECT_EQ(text(name), "gnu");
  ASSERT_TRUE(unpack(pax("path", name) + member("cut", '0', "pax") + member("next", '0', "n")));
  EXPECT_EQ(text(name), "pax");
  EXPECT_EQ(text("next"), "n");
}

TEST_F(Outputs, NothingIsWrittenElsewhere) {
  const std::string link = member("link", '2');
  ASSERT_TRUE(unpack(member("../../../out", '0', "x") + member("/tmp/fathom-out", '0', "x") +
                     member("a/../../../../out", '0', "x") + member("..", '5') + link +
                     member("link/out", '0', "x") + member("hard", '1') + member("dev", '3') +
                     member("fifo", '6') + pax("path", "../../../out") + member("y", '0', "x") +
                     pax("path", std::string("fine\0/../..", 11)) + member("y", '0', "fine") +
                     member("", '0', "x")));
  EXPECT_THAT(counts_.left_out,
              ElementsAre(Pair("devices and pipes", 2), Pair("links", 2),
                          Pair("names that lead out of the folder", 5), Pair("not writable", 1)));
  EXPECT_EQ(text("fine"), "fine");
  EXPECT_EQ(text("link/out"), "x");  // a folder of ours: no link was made
  std::vector<std::string> beside;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(temp_.path()))
    if (entry.is_regular_file() || entry.is_symlink())
      beside.push_back(entry.path().lexically_relative(temp_.path()));
  EXPECT_THAT(beside, ::testing::UnorderedElementsAre("deep/outputs/var/log/link/out",
                                                      "deep/outputs/var/log/fine"));
}

TEST_F(Outputs, ThereIsAnEndToEverything) {
  ASSERT_TRUE(
      unpack(member("a", '0', "12345") + member("b", '0', "123456") + member("c", '0', "12345"),
             {.bytes = 10}));
  EXPECT_EQ(text("b"), "(none)");
  EXPECT_EQ(text("c"), "12345");
  EXPECT_THAT(counts_.left_out, ElementsAre(Pair("too large", 1)));
  EXPECT_FALSE(unpack(member("a", '5') + member("b", '5') + member("c", '5'), {.members = 2}));
  EXPECT_THAT(counts_.left_out, ElementsAre(Pair("the rest, too many", 1)));
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "d/";
  ASSERT_TRUE(unpack(pax("path", deep + deep) + member("x", '5')));
  EXPECT_THAT(counts_.left_out, ElementsAre(Pair("names that lead out of the folder", 1)));
}

TEST_F(Outputs, WhatIsBrokenIsTold) {
  EXPECT_FALSE(unpack("this is no tar" + std::string(600, 'x')));
  EXPECT_FALSE(unpack(member("a", '0', "12345", 100'000)));  // cut off
  EXPECT_EQ(text("a"), "(none)");
  EXPECT_FALSE(unpack(member("a", 'L', "", std::uint64_t{1} << 30U)));
  EXPECT_FALSE(unpack(member("a", '0', "").substr(0, 300)));
  EXPECT_TRUE(unpack(""));
  EXPECT_TRUE(unpack(pax("size", "-5") + member("a", '0', "12345")));
  EXPECT_EQ(text("a"), "12345");
}

TEST_F(Outputs, AFileAndAFolderOfOneName) {
  ASSERT_TRUE(unpack(member("a", '0', "1") + member("a", '0', "2") + member("a/b", '0', "3")));
  EXPECT_EQ(text("a"), "1");
  EXPECT_EQ(left_out_words(counts_), "not writable (2)");
}

}  // namespace
}  // namespace fathom::containers
