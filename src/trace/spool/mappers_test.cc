// SPDX-License-Identifier: MIT
#include "trace/spool/mappers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "trace/testing/recordings.h"

namespace fathom::trace {
namespace {

using testing::SpoolBuilder;
using testing::TempDir;

class MappersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string header = join_path(mapped_.directory(), FATHOM_RUN_FILE);
    const int fd = ::open(header.c_str(), O_RDWR | O_CLOEXEC);
    page_ = ::mmap(nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    ASSERT_NE(page_, MAP_FAILED);
  }
  void TearDown() override { ::munmap(page_, FATHOM_RUN_HEADER_SIZE); }

  // While a child lives that does nothing with what it has mapped, as one that was just forked.
  static bool is_mapped_with_child(const Spool& spool) {
    const pid_t child = ::fork();
    while (child == 0) ::pause();
    const bool found = is_mapped_by_others(spool);
    EXPECT_FALSE(is_mapped_by_others(spool, {child})) << "but this one";
    ::kill(child, SIGKILL);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return found;
  }

  TempDir dir_, other_dir_;
  SpoolBuilder mapped_{dir_.path()};
  SpoolBuilder other_{other_dir_.path()};
  void* page_ = nullptr;
};

TEST_F(MappersTest, AForkedChildThatHasWrittenNothingIsSeen) {
  const Result<Spool> spool = Spool::open(mapped_.directory());
  ASSERT_TRUE(spool);
  EXPECT_FALSE(is_mapped_by_others(*spool)) << "this process is none of the others";
  EXPECT_TRUE(is_mapped_with_child(*spool));
  EXPECT_FALSE(is_mapped_by_others(*spool)) << "it has ended";
}

TEST_F(MappersTest, AnotherRunIsNotThis) {
  const Result<Spool> spool = Spool::open(other_.directory());
  ASSERT_TRUE(spool);
  EXPECT_FALSE(is_mapped_with_child(*spool));
}

}  // namespace
}  // namespace fathom::trace
