// SPDX-License-Identifier: MIT
#include "sources/ebpf/kernel_code.h"

#include <gtest/gtest.h>

#include "sources/ebpf/kernel_types.h"

namespace fathom::sources::ebpf {
namespace {

using Names = std::vector<std::string>;

TEST(EbpfKernelCode, NamesOfFunctions) {
  const KernelNames names = names_in(
      "ffffffff81000000 T vfs_read\n"
      "ffffffff81000010 t helper\n"
      "ffffffff81000020 t helper\n"
      "ffffffff81000030 D some_data\n"
      "ffffffff81000040 t vfs_read.cold\n"
      "ffffffff81000050 T __pfx_vfs_read\n"
      "ffffffffc0000000 t ext4_sync_file\t[ext4]\n"
      "ffffffff81000060 W weak_one\n"
      "broken\n"
      "\n");
  EXPECT_EQ(names.names, (Names{"ext4_sync_file", "helper", "vfs_read", "weak_one"}));
  EXPECT_EQ(names.several, (Names{"helper"}));
}

TEST(EbpfKernelCode, Lockdown) {
  EXPECT_EQ(lockdown_in("none [integrity] confidentiality\n"), "integrity");
  EXPECT_EQ(lockdown_in("[none] integrity confidentiality\n"), "");
  EXPECT_EQ(lockdown_in(""), "");
  EXPECT_EQ(lockdown_in("]["), "");
}

TEST(EbpfKernelCode, WhatIsOfTheKernel) {
  for (const char* text :
       {"kernel:vfs_read", "tracepoint:^ext4_", "tracepoint:block:block_rq_issue"})
    EXPECT_TRUE(is_of_kernel(text)) << text;
  for (const char* text : {"libkernel.so:f", "/kernel:f", "kernel", "usdt:kernel:a:b", ""})
    EXPECT_FALSE(is_of_kernel(text)) << text;
}

TEST(EbpfKernelCode, Tracepoints) {
  if (kernel_tracepoints().empty()) GTEST_SKIP() << "this kernel does not tell its types";
  Functions found;
  ASSERT_TRUE(add_kernel_code("tracepoint:sched:sched_process_fork", found));
  ASSERT_TRUE(add_kernel_code("tracepoint:^sched_process_e", found));
  Names names;
  for (const Function& one : found.probed) {
    EXPECT_TRUE(one.is_tracepoint() && one.is_of_kernel() && one.times == Times::kUnknown);
    names.push_back(one.name);
  }
  EXPECT_EQ(names, (Names{"sched_process_fork", "sched_process_exec", "sched_process_exit"}));
}

TEST(EbpfKernelCode, SaysWhatIsWrong) {
  if (kernel_tracepoints().empty()) GTEST_SKIP() << "this kernel does not tell its types";
  struct Case {
    const char* text;
    Code code;
    const char* hint;  // a part of it
  };
  const Case cases[] = {
      {"tracepoint:sched_swicth", Code::kNotFound, "did you mean sched_switch"},
      {"tracepoint:sys_enter_read", Code::kNotFound, "--filter syscall:call=read"},
      {"tracepoint:(", Code::kUsage, "tracepoint:NAME"},
      {"tracepoint:", Code::kUsage, "tracepoint:NAME"},
      {"kernel:vfs_raed", Code::kNotFound, "vfs_read"},
      {"kernel:", Code::kUsage, "kernel:NAME"},
  };
  for (const Case& c : cases) {
    Functions found;
    const Status added = add_kernel_code(c.text, found);
    ASSERT_FALSE(added) << c.text;
    EXPECT_EQ(added.error().code, c.code) << c.text;
    EXPECT_NE(added.error().hint.find(c.hint), std::string::npos) << added.error().hint;
  }
}

TEST(EbpfKernelCode, FunctionsThatMustNotBeProbed) {
  Functions found;
  const Status added = add_kernel_code("kernel:^(vfs_fsync_range|bpf_prog_load)$", found);
  if (!added) GTEST_SKIP() << added.error().message;
  ASSERT_EQ(found.probed.size(), 1U);
  EXPECT_EQ(found.probed.front().name, "vfs_fsync_range");
  ASSERT_EQ(found.unprobed.size(), 1U);
  EXPECT_EQ(found.unprobed.front().why, "our own programs call it");
  EXPECT_TRUE(found.unprobed.front().of_kernel);
}

}  // namespace
}  // namespace fathom::sources::ebpf
