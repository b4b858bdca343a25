// SPDX-License-Identifier: MIT
#include "symbols/jit_code.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/clock.h"

namespace fathom::symbols {
namespace {

using Kind = JitCode::Answer::Kind;

class JitCodeFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(root_));
    ASSERT_TRUE(make_dirs(root_ + "/tmp"));
  }
  [[nodiscard]] JitCode code(std::int64_t since_ns = 0, uid_t owner = ::geteuid()) const {
    JitPlace place;
    place.root = Fd(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    place.inner_pid = 42;
    place.owner = owner;
    place.since_ns = since_ns;
    return JitCode(std::move(place));
  }
  static std::string name_in(JitCode& code) {
    code.refresh(1);
    return code.find(0x1000, 1).function;
  }
  const std::string root_ = ::testing::TempDir() + "/jit_code";
  const std::string map_ = root_ + "/tmp/perf-42.map";
};

TEST_F(JitCodeFiles, AMapIsReadOnWhileItGrowsAndAfterItIsGone) {
  JitCode code = this->code();
  code.refresh(1);
  EXPECT_EQ(code.find(0x1000, 1).kind, Kind::kLater);
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 f\n"));
  code.refresh(2);
  EXPECT_EQ(code.find(0x1000, 1).function, "f");
  Result<File> file = File::open(map_, O_WRONLY | O_APPEND);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write_all("2000 10 g\n"));
  ASSERT_EQ(::unlink(map_.c_str()), 0);
  EXPECT_EQ(code.find(0x2000, 1).kind, Kind::kLater);
  code.end(3);
  EXPECT_EQ(code.find(0x2000, 1).function, "g");
  EXPECT_EQ(code.find(0x3000, 1).kind, Kind::kNone);
}

TEST_F(JitCodeFiles, AMapThatIsBegunAnewIsReadAnew) {
  JitCode code = this->code();
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 long_name\n"));
  EXPECT_EQ(name_in(code), "long_name");
  Result<File> file = File::open(map_, O_WRONLY | O_TRUNC);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write_all("1000 10 g\n"));
  EXPECT_EQ(name_in(code), "g");
}

TEST_F(JitCodeFiles, OfAnotherUserIsNotRead) {
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 f\n"));
  if (::chown(map_.c_str(), 4711, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "only root gives files away";
  JitCode theirs = code(0, 0);
  EXPECT_EQ(name_in(theirs), "");
  JitCode own = code(0, 4711);
  EXPECT_EQ(name_in(own), "f");
}

TEST_F(JitCodeFiles, LinksAndWhatIsNoFileAreNotRead) {
  ASSERT_TRUE(write_file_atomic(root_ + "/other", "1000 10 f\n"));
  ASSERT_EQ(::symlink("../other", map_.c_str()), 0);
  JitCode by_link = code();
  EXPECT_EQ(name_in(by_link), "");
  ASSERT_EQ(::unlink(map_.c_str()), 0);
  ASSERT_EQ(::mkfifo(map_.c_str(), 0600), 0);
  JitCode by_fifo = code();
  EXPECT_EQ(name_in(by_fifo), "");
}

// The number of a process is used again: /tmp keeps what the one before left.
TEST_F(JitCodeFiles, OfAnEarlierProcessIsNotRead) {
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 f\n"));
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  JitCode later = code((now.tv_sec + 10) * 1'000'000'000);
  EXPECT_EQ(name_in(later), "");
}

TEST_F(JitCodeFiles, ADumpIsTheFileThatWasMapped) {
  const std::string path = root_ + "/jit-42.dump";
  ASSERT_TRUE(write_file_atomic(path, "no jitdump"));
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  ASSERT_TRUE(write_file_atomic(map_, "1000 10 f\n"));
  JitCode code = this->code();
  code.add_dump("/jit-42.dump", facts.st_ino + 1);
  code.add_dump("/jit-42.dump", facts.st_ino);
  EXPECT_EQ(name_in(code), "f") << "a damaged one says nothing";
}

// As the process sees it: its root, its pid, its user.
TEST(JitCode, OfAProcessThatRuns) {
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  ASSERT_TRUE(write_file_atomic(path, "1000 10 mine\n"));
  JitCode code(JitPlace::of_process(::getpid(), now_monotonic_ns()));
  code.refresh(1);
  ::unlink(path.c_str());
  EXPECT_EQ(code.find(0x1000, 1).function, "mine");
}

TEST(JitCode, OfAProcessThatHasEnded) {
  constexpr pid_t kNobody = 0x3fffffff;
  const JitPlace place = JitPlace::of_process(kNobody, now_monotonic_ns());
  EXPECT_EQ(place.inner_pid, kNobody);
  EXPECT_EQ(place.owner, ::geteuid());
}

}  // namespace
}  // namespace fathom::symbols
