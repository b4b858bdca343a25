// SPDX-License-Identifier: MIT
#include "fleet/agents/outbox.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "base/files.h"
#include "base/ids.h"
#include "fleet/client_numbers.h"

namespace fathom::fleet {
namespace {

class Outboxes : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_dirs(folder_)); }
  void TearDown() override { (void)remove_tree(folder_); }
  Outbox opened() {
    Result<Outbox> outbox = Outbox::open(folder_ + "/outbox");
    EXPECT_TRUE(outbox) << (outbox ? "" : outbox.error().message);
    return std::move(outbox).value();
  }
  static Letter letter(std::int64_t seq) {
    return {.place = "http://h:1",
            .job = "nightly",
            .kind = {},
            .id = {"me", seq},
            .rows = {{"größe<int, 2>\n", "a b", "e:u", 7}},
            .records = {}};
  }
  std::vector<std::int64_t> waiting(const Outbox& outbox) {
    std::vector<std::int64_t> numbers;
    EXPECT_TRUE(outbox.each_waiting(
        [&](const Outbox::Held&, const Letter& one) {
          numbers.push_back(one.id.seq);
          return Status();
        },
        damaged_));
    return numbers;
  }

  std::string folder_ = ::testing::TempDir() + "/outbox-" + random_id();
  std::vector<std::string> damaged_;
};

TEST_F(Outboxes, GivesBackWhatWasPutInItsOrder) {
  const Outbox outbox = opened();
  for (const std::int64_t seq : {1, 2, 3}) ASSERT_TRUE(outbox.put(letter(seq)));
  EXPECT_EQ((std::vector<std::int64_t>{1, 2, 3}), waiting(opened()));
  struct stat facts {};
  ASSERT_EQ(0, ::stat(outbox.path().c_str(), &facts));
  EXPECT_EQ(0700U, facts.st_mode & 0777U);
  ASSERT_TRUE(outbox.each_waiting(
      [&](const Outbox::Held& held, const Letter& one) {
        EXPECT_EQ(letter(one.id.seq).rows, one.rows);
        EXPECT_EQ("http://h:1", one.place);
        outbox.remove(held);
        return Status();
      },
      damaged_));
  EXPECT_TRUE(waiting(outbox).empty());
}

TEST_F(Outboxes, LeavesAloneWhatAnotherAgentHolds) {
  const Outbox outbox = opened();
  {
    const Result<Outbox::Held> held = outbox.put(letter(1));
    ASSERT_TRUE(held);
    EXPECT_TRUE(waiting(opened()).empty());
  }
  EXPECT_EQ(1U, waiting(opened()).size());
}

TEST_F(Outboxes, SetsDamagedFilesAsideAndGoesOn) {
  const Outbox outbox = opened();
  for (const std::int64_t seq : {1, 2}) ASSERT_TRUE(outbox.put(letter(seq)));
  const Result<std::vector<std::string>> names = list_dir(outbox.path());
  ASSERT_TRUE(names);
  const std::string path = join_path(outbox.path(), (*names)[0]);
  std::string text = read_file(path).value();
  const std::size_t digit = text.rfind("\"count\":7");
  ASSERT_NE(std::string::npos, digit);
  text[digit + 8] = '8';  // still JSON: the sum over it tells
  ASSERT_TRUE(write_file_atomic(path, text, 0600));
  EXPECT_EQ((std::vector<std::int64_t>{2}), waiting(outbox));
  ASSERT_EQ(1U, damaged_.size());
  EXPECT_TRUE(path_exists(damaged_[0]));
  EXPECT_EQ((std::vector<std::int64_t>{2}), waiting(outbox));
  EXPECT_EQ(1U, damaged_.size()) << "told once";
}

TEST_F(Outboxes, RefusesAFolderThatOthersCanEnter) {
  ASSERT_TRUE(make_dirs(folder_ + "/outbox"));
  ASSERT_EQ(0, ::chmod((folder_ + "/outbox").c_str(), 0755));
  const Result<Outbox> outbox = Outbox::open(folder_ + "/outbox");
  ASSERT_FALSE(outbox);
  EXPECT_EQ(Code::kDenied, outbox.error().code);
}

TEST(Letters, AreWholeOrNone) {
  const Letter letter{.place = "p",
                      .job = "j",
                      .kind = "benchmark",
                      .id = {"c", 3},
                      .rows = {},
                      .records = {R"({"a": "\"\n"})"}};
  const std::string text = format_letter(letter);
  const Result<Letter> back = parse_letter(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(letter.records, back->records);
  EXPECT_EQ("benchmark", back->kind);
  EXPECT_EQ(3, back->id.seq);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_letter(std::string_view(text).substr(0, length))) << length;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_FALSE(parse_letter(flipped)) << at;
  }
}

class Numbers : public Outboxes {};

TEST_F(Numbers, AreNeverGivenTwice) {
  std::set<std::int64_t> seen;
  std::mutex mutex;
  const auto take = [&] {
    for (int i = 0; i < 50; ++i) {
      const Result<BatchId> id = next_batch(folder_, "host/name");
      ASSERT_TRUE(id);
      const std::scoped_lock lock(mutex);
      EXPECT_TRUE(seen.insert(id->seq).second);
    }
  };
  { std::jthread one(take), two(take); }
  EXPECT_EQ(100U, seen.size());
  EXPECT_EQ(1, *seen.begin());
  EXPECT_EQ(100, *seen.rbegin());
}

TEST_F(Numbers, AreThoseOfAnotherClientOnAnotherHostOrAfterDamage) {
  const BatchId first = next_batch(folder_, "north").value();
  EXPECT_EQ(first.client, next_batch(folder_, "north").value().client);
  EXPECT_NE(first.client, next_batch(folder_, "south").value().client);
  ASSERT_TRUE(write_file_atomic(folder_ + "/client-north", "garbage", 0600));
  const BatchId after = next_batch(folder_, "north").value();
  EXPECT_NE(first.client, after.client);
  EXPECT_EQ(1, after.seq);
  EXPECT_EQ(2, next_batch(folder_, "north").value().seq);
}

}  // namespace
}  // namespace fathom::fleet
