// SPDX-License-Identifier: MIT
#include "trace/rows/channels.h"

#include <gtest/gtest.h>

#include "trace/rows/definitions.h"

namespace fathom::trace {
namespace {

TEST(Channels, WordsOfAPipe) {
  struct Case {
    const char *words, *user, *want;
  };
  for (const Case& c : {
           Case{"pipe to [4711]", "sort (pid 17)", "pipe to sort (pid 17)"},
           Case{"pipe from [4711]", "seq (pid 3)", "pipe from seq (pid 3)"},
           Case{"pipe [4711]", "seq (pid 3)", "pipe seq (pid 3)"},
           Case{"pipe to [4711]", "", "pipe"},
           Case{"pipe to [8:12] /run/fifo", "", "pipe to /run/fifo"},
           Case{"pipe to [8:12] /run/fifo", "cat (pid 5)", "pipe to cat (pid 5)"},
           Case{"pipe to [", "", "pipe to ["},
           Case{"pipe to []", "", "pipe to []"},
           Case{"socket [::1]:80", "", "socket [::1]:80"},
           Case{"tty", "", "tty"},
       })
    EXPECT_EQ(channel_text(c.words, c.user), c.want) << c.words;
  EXPECT_EQ(user_text("sort", 17), "sort (pid 17)");
  EXPECT_EQ(user_text("", 17), "a program (pid 17)");
}

Process process_of(std::int64_t pid, std::uint64_t start) {
  Process process;
  process.key = static_cast<std::uint64_t>(pid);
  process.pid = pid;
  process.start_tick = start;
  return process;
}

TEST(Channels, TheFirstOfTheOthersIsMeant) {
  const Process writer = process_of(1, 10);
  const Process late = process_of(2, 30);
  const Process early = process_of(3, 20);
  PipeUsers users;
  EXPECT_TRUE(users.add("pipe to [7]", writer));
  EXPECT_FALSE(users.add("pipe to [7]", writer)) << "known";
  EXPECT_FALSE(users.add("tty", writer));
  EXPECT_EQ(users.other_end("pipe to [7]", writer).first, nullptr);
  EXPECT_TRUE(users.add("pipe from [7]", writer));
  EXPECT_EQ(users.other_end("pipe to [7]", writer).first, &writer) << "it talks to itself";
  EXPECT_TRUE(users.add("pipe from [7]", late));
  EXPECT_TRUE(users.add("pipe from [7]", early));
  EXPECT_EQ(users.other_end("pipe to [7]", writer).first, &early);
  EXPECT_EQ(users.other_end("pipe to [7]", writer).processes, 1U) << "nobody moved anything";
  EXPECT_EQ(users.other_end("pipe from [7]", late).first, &writer);
  EXPECT_EQ(users.other_end("pipe to [8]", writer).first, nullptr);
  EXPECT_EQ(users.other_end("tty", writer).first, nullptr);
}

// Who only uses an end (a flush, the end of the data) is not whom the other end talks to.
TEST(Channels, WhoMovedBytesIsMeant) {
  const Process writer = process_of(1, 10);
  const Process idle = process_of(2, 20);
  const Process reader = process_of(3, 30);
  Process image = process_of(3, 35);  // what the reader became
  image.key = 33;
  const Process other = process_of(4, 40);
  PipeUsers users;
  EXPECT_TRUE(users.add("pipe from [8:7] /run/fifo", idle));
  EXPECT_TRUE(users.add("pipe from [8:7] /run/fifo", reader));
  EXPECT_TRUE(users.add("moved from [8:7]", reader));
  EXPECT_FALSE(users.add("moved from [8:7]", reader)) << "known";
  EXPECT_TRUE(users.add("moved from [8:7]", image));
  const auto told = [&] {
    const PipeUsers::Other found = users.other_end("pipe to [8:7] /run/fifo", writer);
    return users_text(found, "sort");
  };
  EXPECT_EQ(told(), "sort (pid 3)");
  EXPECT_EQ(users.other_end("pipe from [8:7] /run/fifo", reader).first, nullptr);
  EXPECT_TRUE(users.add("moved from [8:7]", other));
  EXPECT_EQ(told(), "2 processes");
  std::vector<Process> crowd;
  for (std::int64_t pid = 100; pid < 2000; pid++) crowd.push_back(process_of(pid, 50));
  for (const Process& one : crowd) users.add("moved from [8:7]", one);
  EXPECT_EQ(told(), "many processes");
  EXPECT_EQ(users_text({}, "sort"), "");
}

}  // namespace
}  // namespace fathom::trace
