// SPDX-License-Identifier: MIT
#include "sources/resources/thread_cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/files.h"

namespace fathom::sources {
namespace {

// A thread of process 7: its CPU time in ticks, and where it ran last.
void put_thread(const std::string& proc, int thread, int ticks, int cpu) {
  const std::string folder = proc + "/7/task/" + std::to_string(thread);
  ASSERT_TRUE(make_dirs(folder));
  std::ofstream(folder + "/stat") << thread << " (x) R 1 1 1 0 -1 0 0 0 0 0 " << ticks
                                  << " 0 0 0 20 0 1 0 5 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 17 " << cpu
                                  << " 0 0 0\n";
}

TEST(ThreadCores, SplitsByTheTicksThatThreadsGained) {
  const std::string proc = ::testing::TempDir() + "proc" + std::to_string(getpid());
  put_thread(proc, 7, 10, 0);
  put_thread(proc, 8, 30, 1);
  ThreadCores cores(proc);
  EXPECT_EQ(cores.split({7}, 100), (std::map<int, double>{{0, 25}, {1, 75}}));
  put_thread(proc, 7, 20, 3);
  EXPECT_EQ(cores.split({7}, 50), (std::map<int, double>{{1, 0}, {3, 50}}));
  EXPECT_EQ(cores.split({7}, 8), (std::map<int, double>{{3, 8}}));
  EXPECT_EQ(cores.split({}, 8), (std::map<int, double>{{0, 8}}));
}

}  // namespace
}  // namespace fathom::sources
