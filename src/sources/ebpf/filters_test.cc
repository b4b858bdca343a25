// SPDX-License-Identifier: MIT
#include "sources/ebpf/filters.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace fathom::sources::ebpf {
namespace {

const std::vector<fathom_bpf_layer> kSome = {FATHOM_BPF_SYSCALL, FATHOM_BPF_SCHED,
                                             FATHOM_BPF_PAGECACHE, FATHOM_BPF_BLOCK};

bool wants(const Filters& filters, fathom_bpf_layer layer, std::uint32_t number) {
  const std::uint32_t at = FATHOM_BPF_BIT_OF(number);
  return (filters.of_layers[layer].calls[at / 32] & (1U << at % 32)) != 0;
}

TEST(EbpfFilters, CallsOfLayersThatHaveThem) {
  const Result<Filters> read = read_filters({"call=read", "call=io_uring:w*"}, kSome);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(wants(*read, FATHOM_BPF_SYSCALL, SYS_read));
  EXPECT_FALSE(wants(*read, FATHOM_BPF_SYSCALL, SYS_write));
  EXPECT_TRUE(wants(*read, FATHOM_BPF_SYSCALL, FATHOM_BPF_URING + 23));   // write
  EXPECT_FALSE(wants(*read, FATHOM_BPF_SYSCALL, FATHOM_BPF_URING + 22));  // read
  EXPECT_TRUE(wants(*read, FATHOM_BPF_BLOCK, FATHOM_BLOCK_READ));
  EXPECT_EQ(read->of_layers[FATHOM_BPF_SCHED].by_call, 0U);
  EXPECT_EQ(read->filtered, 1U << FATHOM_BPF_SYSCALL | 1U << FATHOM_BPF_BLOCK);
}

TEST(EbpfFilters, OfOneLayerOrOfThoseItSuits) {
  const Result<Filters> read =
      read_filters({"min=10us", "block:one-in=8", "path=/dev", "path=/"}, kSome);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->of_layers[FATHOM_BPF_SYSCALL].least_ns, 10'000U);
  EXPECT_EQ(read->of_layers[FATHOM_BPF_PAGECACHE].least_ns, 0U);  // moments
  EXPECT_EQ(read->of_layers[FATHOM_BPF_SYSCALL].one_in, 0U);
  EXPECT_EQ(read->of_layers[FATHOM_BPF_BLOCK].one_in, 8U);
  EXPECT_EQ(read->of_layers[FATHOM_BPF_PAGECACHE].by_path, 1U);
  EXPECT_EQ(read->of_layers[FATHOM_BPF_BLOCK].by_path, 0U);
  EXPECT_TRUE(read->by_path);
  EXPECT_GE(read->wanted.size(), 2U);
}

TEST(EbpfFilters, MistakesAreNamed) {
  struct Case {
    const char* text;
    Code code;
  };
  const Case cases[] = {
      {"sound", Code::kUsage},
      {"path=", Code::kUsage},
      {"volume=3", Code::kUsage},
      {"min=soon", Code::kUsage},
      {"min=0", Code::kUsage},
      {"one-in=0", Code::kUsage},
      {"one-in=many", Code::kUsage},
      {"call=no_such_call_*", Code::kUsage},
      {"vfs:min=1us", Code::kUsage},
      {"sound:min=1us", Code::kUsage},
      {"block:cgroup=/", Code::kUsage},
      {"path=/no/such/path", Code::kNotFound},
      {"cgroup=/no/such", Code::kNotFound},
      {"cgroup=/dev", Code::kNotFound},
  };
  for (const Case& c : cases) {
    const Result<Filters> read = read_filters({c.text}, kSome);
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().code, c.code) << c.text;
  }
}

TEST(EbpfFilters, PathsByTheirTexts) {
  const std::vector<fathom_prefix> data = prefixes_of("/data");
  ASSERT_EQ(data.size(), 2U);
  EXPECT_EQ(data[0].bits, 48U);
  EXPECT_STREQ(data[0].text, "/data");
  EXPECT_EQ(data[1].bits, 48U);
  EXPECT_STREQ(data[1].text, "/data/");
  EXPECT_EQ(prefixes_of("/").back().bits, 8U);
  EXPECT_TRUE(prefixes_of("/" + std::string(FATHOM_BPF_NAME, 'x')).empty());
}

}  // namespace
}  // namespace fathom::sources::ebpf
