// SPDX-License-Identifier: MIT
#include "symbols/vdso.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/module.h"
#include "symbols/unwind/frame_table.h"

namespace fathom::symbols {
namespace {

TEST(Vdso, HasFunctionsAndRules) {
  const Result<std::string> image = vdso_image();
  if (!image) GTEST_SKIP() << image.error().message;
  Module module = Module::open_image(*image, "[vdso]").value();
  FrameTable table = FrameTable::of_image(*image, "[vdso]").value();
  std::vector<std::string> names;
  std::size_t rules = 0;
  for (std::uint64_t at = 0; at < image->size(); at += 4) {
    for (const Frame& frame : module.frames_at(at)) names.emplace_back(frame.function);
    rules += table.find(module.address_of(at).value_or(0)) != nullptr ? 1 : 0;
  }
#if defined(__x86_64__)
  EXPECT_THAT(names, ::testing::Contains("__vdso_clock_gettime"));
#else
  EXPECT_THAT(names, ::testing::Contains("__kernel_clock_gettime"));
#endif
  EXPECT_GT(rules, 10U);
}

TEST(Vdso, ReadFromAProcessItIsTheSame) {
  const Result<std::string> image = vdso_image();
  if (!image) GTEST_SKIP() << image.error().message;
  const Result<std::string> read =
      memory_image(::getpid(), ::getauxval(AT_SYSINFO_EHDR), image->size());
  if (!read && read.error().code == Code::kDenied) GTEST_SKIP() << read.error().message;
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, *image);
  EXPECT_FALSE(memory_image(::getpid(), 0, 4096));
}

}  // namespace
}  // namespace fathom::symbols
