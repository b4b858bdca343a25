// SPDX-License-Identifier: MIT
// What is said of programs that the kernel does not take.
#include "sources/ebpf/loading.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace fathom::sources::ebpf {
namespace {

TEST(EbpfLoading, EndOfTheVerifiersLog) {
  constexpr std::string_view kLog =
      "libbpf: prog 'f': -- BEGIN PROG LOAD LOG --\n"
      "50: (a6) if w7 < 0x800 goto pc+1\n"
      "; if (size > sizeof *out) size = sizeof *out;\n"
      "52: (07) r3 += 32\n"
      "57: (85) call bpf_ringbuf_output#130\n"
      "R3 unbounded memory access\n"
      "processed 76 insns (limit 1000000)\n"
      "-- END PROG LOAD LOG --\n";
  EXPECT_EQ(
      end_of_log(kLog),
      "52: (07) r3 += 32 | 57: (85) call bpf_ringbuf_output#130 | R3 unbounded memory access");
  EXPECT_EQ(end_of_log(""), "");
}

// Programs for functions as filters of sockets, which may not call what they call.
TEST(EbpfLoading, VerifierIsNotTakenForPrivilege) {
  const Result<Loaded> first = load_first({});
  if (!first) GTEST_SKIP() << first.error().message;
  Loaded bad;
  const auto size = static_cast<std::size_t>(fathom_bpf_user_pair_end - fathom_bpf_user_pair);
  bad.object.reset(bpf_object__open_mem(fathom_bpf_user_pair, size, nullptr));
  ASSERT_TRUE(bad.object);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, bad.object.get())
      bpf_program__set_type(program, BPF_PROG_TYPE_SOCKET_FILTER);
  ASSERT_NE(bpf_object__load(bad.object.get()), 0);
  const Error error = refused(EACCES);
  EXPECT_EQ(error.code, Code::kUnsupported) << error.message;
  EXPECT_NE(error.message.find("verifier"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("bpf_get_attach_cookie"), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_EQ(refused(EPERM).code, Code::kDenied);
}

}  // namespace
}  // namespace fathom::sources::ebpf
