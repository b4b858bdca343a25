// SPDX-License-Identifier: MIT
#include "sources/resources/group_text.h"

#include <gtest/gtest.h>

namespace fathom::sources {
namespace {

TEST(GroupText, Blkio) {
  const Transfers sums = parse_blkio(
      "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 8192\n8:0 Total 12288\n8:16 Write 10\nTotal "
      "12298\n");
  EXPECT_EQ(sums.read, 4096);
  EXPECT_EQ(sums.written, 8202);
  EXPECT_EQ(parse_blkio("Total 0\n").written, 0);
}

TEST(GroupText, IoStat) {
  const IoStat sums = parse_io_stat(
      "8:0 rbytes=4096 wbytes=1 rios=1 wios=2 dbytes=9 dios=9\n254:0 rbytes=4 wbytes=x rios=3\n");
  EXPECT_EQ(sums.bytes.read, 4100);
  EXPECT_EQ(sums.bytes.written, 1);
  EXPECT_EQ(sums.calls.read, 4);
  EXPECT_EQ(sums.calls.written, 2);
}

TEST(GroupText, UsageByCpu) {
  EXPECT_EQ(parse_usage_by_cpu("12 0 7 \n"), (std::vector<std::uint64_t>{12, 0, 7}));
  EXPECT_TRUE(parse_usage_by_cpu("12 nonsense\n").empty());
  EXPECT_TRUE(parse_usage_by_cpu("").empty());
}

TEST(GroupText, Pressure) {
  const char* const text =
      "some avg10=0.00 avg60=1.50 avg300=0.00 total=4321\nfull avg10=0.00 total=7\n";
  EXPECT_EQ(parse_pressure(text), 4321U);
  EXPECT_FALSE(parse_pressure("full avg10=0.00 total=7\n"));
}

TEST(GroupText, CpuMax) {
  EXPECT_DOUBLE_EQ(parse_cpu_max("50000 100000\n").value(), 0.5);
  EXPECT_FALSE(parse_cpu_max("max 100000\n"));
  EXPECT_FALSE(parse_cpu_max("5 0\n"));
}

TEST(GroupText, NetDev) {
  const auto traffic = parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
      "    lo:  100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n"
      "  eth0:1234 5 0 0 0 0 0 0 99 2 0 0 0 0 0 0\n"
      "  cut: 5\n");
  ASSERT_EQ(traffic.size(), 1U);
  EXPECT_EQ(traffic.at("eth0").received, 1234U);
  EXPECT_EQ(traffic.at("eth0").sent, 99U);
}

}  // namespace
}  // namespace fathom::sources
