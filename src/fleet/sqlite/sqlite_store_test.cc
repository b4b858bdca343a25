// SPDX-License-Identifier: MIT
// What only a file can meet; store_test.cc has what every store promises.
#include "fleet/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/dice.h"
#include "base/files.h"
#include "fleet/testing/rounds.h"

namespace fathom::fleet {
namespace {

class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)remove_tree(folder_);
    ASSERT_TRUE(make_dirs(folder_));
  }
  void TearDown() override { (void)remove_tree(folder_); }

  Result<std::unique_ptr<JobStore>> open() { return open_sqlite_store(path_, {.busy_ms = 200}); }
  void run(const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
  static std::int64_t sum(JobStore& store, const std::string& node) {
    std::int64_t sum = 0;
    EXPECT_TRUE(store.profile("j", [&](const ProfileRow& row) {
      if (row.node == node) sum += row.count;
      return true;
    }));
    return sum;
  }

  std::string folder_ = ::testing::TempDir() + "/sqlite" + std::to_string(::getpid());
  std::string path_ = folder_ + "/jobs.db";
};

TEST_F(SqliteStoreTest, TheFileIsForThisUserAlone) {
  const mode_t before = ::umask(0);
  const auto store = open();
  ::umask(before);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->create({"j", "", 0}));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat facts {};
    ASSERT_EQ(::stat((path_ + suffix).c_str(), &facts), 0) << suffix;
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST_F(SqliteStoreTest, LinksAreNotFollowed) {
  ASSERT_TRUE(write_file_atomic(folder_ + "/target", ""));
  ASSERT_EQ(::symlink((folder_ + "/target").c_str(), path_.c_str()), 0);
  EXPECT_EQ(open().error().code, Code::kDenied);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::symlink((folder_ + "/missing").c_str(), path_.c_str()), 0);
  EXPECT_EQ(open().error().code, Code::kDenied);
  EXPECT_FALSE(path_exists(folder_ + "/missing"));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::link((folder_ + "/target").c_str(), path_.c_str()), 0);
  EXPECT_EQ(open().error().code, Code::kDenied);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(open().error().code, Code::kDenied);
}

// A directory on the way may be a link: that is the caller's own word.
TEST_F(SqliteStoreTest, ALinkedDirectoryIsFine) {
  ASSERT_EQ(::symlink(folder_.c_str(), (folder_ + "/way").c_str()), 0);
  EXPECT_TRUE(open_sqlite_store(folder_ + "/way/jobs.db"));
  EXPECT_TRUE(path_exists(path_));
}

TEST_F(SqliteStoreTest, ANewerOneIsRefused) {
  ASSERT_TRUE(open());
  run("PRAGMA user_version = 2");
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kUnsupported);
  EXPECT_NE(store.error().message.find("newer Fathom"), std::string::npos);
}

TEST_F(SqliteStoreTest, OtherFilesAreRefused) {
  run("CREATE TABLE mine (x)");
  EXPECT_EQ(open().error().code, Code::kInvalid);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_EQ(open().error().code, Code::kCorrupt);
  EXPECT_EQ(open_sqlite_store(folder_ + "/no/where.db").error().code, Code::kNotFound);
}

TEST_F(SqliteStoreTest, LockedIsUnavailableAndPasses) {
  const auto store = open();
  ASSERT_TRUE((*store)->create({"j", "", 0}));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const ProfileBatch batch{{"c", 1}, {{"f", "a", "e", 1}}};
  EXPECT_EQ((*store)->add_profile("j", batch).error().code, Code::kUnavailable);
  EXPECT_EQ(sum(**store, "f"), 0);
  sqlite3_close(other);
  EXPECT_TRUE((*store)->add_profile("j", batch));
  EXPECT_EQ(sum(**store, "f"), 1);
}

// What would be written to a file without a name would be lost.
TEST_F(SqliteStoreTest, AFileThatIsGoneIsUnavailable) {
  const auto store = open();
  ASSERT_TRUE((*store)->create({"j", "", 0}));
  ASSERT_TRUE(rename_path(path_, path_ + ".away"));
  EXPECT_EQ((*store)->create({"k", "", 0}).error().code, Code::kUnavailable);
  EXPECT_EQ((*store)->jobs().error().code, Code::kUnavailable);
  ASSERT_TRUE(rename_path(path_ + ".away", path_));
  EXPECT_TRUE((*store)->create({"k", "", 0}));
}

// The file must not grow beyond a size: SQLite says what it says when a disk is full.
TEST_F(SqliteStoreTest, FullIsFull) {
  {
    const auto store = open();
    ASSERT_TRUE((*store)->create({"j", "", 0}));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{std::size_t{2} << 20U, std::size_t{2} << 20U};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto store = open();
    if (!store) ::_exit(9);
    for (std::int64_t seq = 0; seq < 40; ++seq) {
      const std::string name = std::to_string(seq) + std::string(200'000, 'n');
      const Status added = (*store)->add_profile("j", {{"c", seq}, {{name, "a", "e", 1}}});
      if (added) continue;
      const bool can_be_read =
          (*store)->profile("j", [](const ProfileRow&) { return true; }).has_value();
      ::_exit(can_be_read ? static_cast<int>(added.error().code) : 8);
    }
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == static_cast<int>(Code::kFull) ||
              WEXITSTATUS(status) == static_cast<int>(Code::kUnavailable))
      << WEXITSTATUS(status);
}

// More counters than are remembered, in several jobs, and another process in between.
TEST_F(SqliteStoreTest, LittleMemoryIsEnough) {
  const auto store = open_sqlite_store(path_, {.remembered = 50});
  const auto other = open_sqlite_store(path_, {.remembered = 50});
  for (const char* job : {"a", "b", "c"}) ASSERT_TRUE((*store)->create({job, "", 0}));
  std::int64_t seq = 0;
  for (int round = 0; round < 6; ++round) {
    for (const char* job : {"a", "b", "c"}) {
      ProfileBatch batch{{"c", ++seq}, {}};
      for (int node = 0; node < 100; ++node)
        batch.rows.push_back({"n" + std::to_string(node), "x", "e", node});
      ASSERT_TRUE((round % 2 == 0 ? *store : *other)->add_profile(job, batch));
    }
  }
  for (const char* job : {"a", "b", "c"}) {
    std::int64_t sum = 0;
    ASSERT_TRUE((*store)->profile(job, [&](const ProfileRow& row) {
      sum += row.count;
      return true;
    }));
    EXPECT_EQ(sum, 6 * 4950);
  }
}

// Several processes make the same file at the same moment.
TEST_F(SqliteStoreTest, ManyOpenItAtOnce) {
  std::vector<pid_t> children;
  for (int number = 0; number < 6; ++number) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = open_sqlite_store(path_);
      if (!store) ::_exit(1);
      (void)(*store)->create({"j", "", 0});
      const Status added =
          (*store)->add_profile("j", {{"c" + std::to_string(number), 1}, {{"f", "a", "e", 1}}});
      ::_exit(added ? 0 : 2);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(sum(**open(), "f"), 6);
}

// A writer dies at any moment: what it was told is kept is there, and no batch is there in part.
TEST_F(SqliteStoreTest, KilledWriters) {
  ASSERT_TRUE((*open())->create({"j", "", 0}));
  Dice dice(3);
  for (int round = 0; round < testing::rounds(8); ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = open_sqlite_store(path_);
      if (!store) ::_exit(1);
      for (std::int64_t seq = 0;; ++seq) {
        const ProfileBatch batch{{"round " + std::to_string(round), seq},
                                 {{"left", "a", "e", 1}, {"right", "b", "e", 1}}};
        if (!(*store)->add_profile("j", batch)) ::_exit(2);
        (void)!::write(ends[1], "x", 1);
      }
    }
    ::close(ends[1]);
    char heard = 0;
    ASSERT_EQ(::read(ends[0], &heard, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(dice.below(20'000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::int64_t acknowledged = 1;
    while (::read(ends[0], &heard, 1) == 1) ++acknowledged;
    ::close(ends[0]);
    const auto store = open();
    std::int64_t batches = 0;
    ASSERT_TRUE((*store)->sent("j", [&](const SentRange& range) {
      if (range.client == "round " + std::to_string(round)) batches += range.last - range.first + 1;
      return true;
    }));
    EXPECT_GE(batches, acknowledged);
    EXPECT_LE(batches, acknowledged + 1);
    EXPECT_EQ(sum(**store, "left"), sum(**store, "right"));
  }
}

}  // namespace
}  // namespace fathom::fleet
