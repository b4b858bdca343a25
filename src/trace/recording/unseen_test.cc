// SPDX-License-Identifier: MIT
#include "trace/recording/unseen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/recording/refused.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMiB = 1024 * 1024;

class UnseenTest : public ::testing::Test {
 protected:
  UnseenTest() { manifest_.layer("posix").state = "on"; }

  Process& process(std::int64_t pid, std::int64_t parent = 1) {
    Process& process = definitions_.process(static_cast<std::uint64_t>(pid));
    process.pid = pid;
    process.ppid = parent;
    process.attached = true;
    fact(process, "exe", "/bin/p" + std::to_string(pid));
    return process;
  }
  void fact(Process& process, const std::string& key, const std::string& value) {
    const auto define = [&](const std::string& text) {
      Definition definition;
      definition.kind = DefinitionKind::kString;
      definitions_.define(process, ++last_id_, definition, text);
      return last_id_;
    };
    const std::uint64_t key_id = define(key);
    process.meta[key_id] = define(value);
  }
  Process& counted(std::int64_t pid, std::int64_t read, std::int64_t written,
                   std::int64_t parent = 1) {
    Process& one = process(pid, parent);
    fact(one, FATHOM_META_KERNEL_IO, " " + std::to_string(read) + " " + std::to_string(written));
    return one;
  }
  SummaryRow& saw(std::int64_t pid, const char* name, const char* category, std::int64_t bytes,
                  const char* layer = "posix", const char* file = "/data") {
    SummaryKey key;
    key.layer = strings_.code(layer);
    key.name = strings_.code(name);
    key.category = strings_.code(category);
    key.file = strings_.code(file);
    key.pid = static_cast<std::int32_t>(pid);
    key.process = static_cast<std::uint64_t>(pid);
    SummaryRow& row = summary_.at(summary_.find(key));
    row.add(0, 1, 1, bytes, false);
    return row;
  }
  std::vector<NotCovered> bytes() {
    return unseen_bytes(definitions_, summary_, strings_, manifest_);
  }

  Strings strings_;
  Definitions definitions_{strings_, {}, ""};
  SummaryTable summary_;
  Manifest manifest_;
  std::uint64_t last_id_ = 0;
};

TEST_F(UnseenTest, ADifferenceOfMoreThanATenthIsNamed) {
  counted(10, 100 * kMiB, 4 * kMiB);
  saw(10, "read", "read", 95 * kMiB);
  saw(10, "write", "write", kMiB);
  ASSERT_EQ(bytes().size(), 1U);
  EXPECT_EQ(bytes()[0].pid, 10);
  EXPECT_EQ(bytes()[0].program, "/bin/p10");
  EXPECT_EQ(bytes()[0].what, "raw system calls");
  EXPECT_THAT(bytes()[0].reason, HasSubstr("3.00 MiB of 4.00 MiB that it wrote passed no hook"));
  saw(10, "write", "write", 3 * kMiB);
  EXPECT_TRUE(bytes().empty());
}

TEST_F(UnseenTest, WhatChildrenDidIsTheirs) {
  counted(10, 0, 50 * kMiB);
  counted(11, 0, 50 * kMiB, 10);
  saw(11, "write", "write", 50 * kMiB);
  EXPECT_TRUE(bytes().empty());
}

TEST_F(UnseenTest, AChildThatDidNotTellLeavesItsParentInDoubt) {
  Process& parent = counted(10, 0, 50 * kMiB);
  EXPECT_EQ(bytes().size(), 1U);
  Note waited;
  waited.kind = NoteKind::kWaited;
  waited.pid = 11;
  definitions_.note(parent, waited);
  EXPECT_TRUE(bytes().empty()) << "one that nobody knows";
  process(11, 10);
  EXPECT_TRUE(bytes().empty()) << "one that was killed";
}

// What it fills a buffer with is more than what is taken out of it.
TEST_F(UnseenTest, BuffersOfStdioAreNoDifference) {
  counted(10, 300 * 64 * 1024, 0);
  for (int i = 0; i < 300; i++) saw(10, "fgetc", "read", 1, "stdio");
  EXPECT_TRUE(bytes().empty());
}

TEST_F(UnseenTest, NothingIsSaidInDoubt) {
  counted(10, 0, 4 * kMiB);
  ASSERT_EQ(bytes().size(), 1U);
  manifest_.losses = {{"posix", "no room in the spool", 1}};
  EXPECT_TRUE(bytes().empty());
  manifest_.losses.clear();
  manifest_.path_filter = {"/data"};
  EXPECT_TRUE(bytes().empty());
  manifest_.path_filter.clear();
  manifest_.not_covered = {{12, "/bin/still", "static binary", ""}};
  EXPECT_TRUE(bytes().empty());
  manifest_.not_covered = {{12, "/bin/still", "its requests", "io_uring"}};
  EXPECT_EQ(bytes().size(), 1U);
  manifest_.layer("syscall").state = "on";
  EXPECT_TRUE(bytes().empty());
}

TEST_F(UnseenTest, MappedFiles) {
  process(10);
  saw(10, "mmap", "map", kNull).access.reach(0, 4 * kMiB);
  ASSERT_EQ(bytes().size(), 1U);
  EXPECT_EQ(bytes()[0].what, "mapped files");
  EXPECT_THAT(bytes()[0].reason, HasSubstr("4.00 MiB of /data mapped into memory"));
  saw(10, "read", "read", 100 * kMiB);
  EXPECT_TRUE(bytes().empty()) << "little beside what it read";
  process(11);
  saw(11, "mmap", "map", kNull, "posix", "/lib/libc.so.6").access.reach(0, 4 * kMiB);
  saw(11, "mmap", "map", kNull, "posix", "/dev/shm/ring").access.reach(0, 4 * kMiB);
  saw(11, "mmap", "map", kNull, "posix", "/etc/small").access.reach(0, 4096);
  saw(11, "mmap", "map", kNull, "posix", "/bin/p11").access.reach(0, 4 * kMiB);
  EXPECT_TRUE(bytes().empty()) << "code, memory, itself, and next to nothing";
  saw(11, "mmap", "map", kNull).access.reach(0, 3 * kMiB);
  EXPECT_EQ(bytes().size(), 1U);
  manifest_.layer("pagecache").state = "on";
  EXPECT_TRUE(bytes().empty());
}

TEST_F(UnseenTest, RequestsThatPassNoHook) {
  Process& one = process(10);
  EXPECT_TRUE(unseen_requests(definitions_, manifest_).empty());
  fact(one, FATHOM_META_UNSEEN "io_uring", "1");
  const std::vector<NotCovered> found = unseen_requests(definitions_, manifest_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "io_uring");
  EXPECT_THAT(found[0].reason, HasSubstr("--layers +syscall"));
  fact(process(11), FATHOM_META_UNSEEN "libaio", FATHOM_META_UNSEEN_LOADED);
  ASSERT_EQ(unseen_requests(definitions_, manifest_).size(), 2U);
  EXPECT_THAT(unseen_requests(definitions_, manifest_)[1].reason,
              HasSubstr("requests by libaio, which it has loaded, pass no hook"));
  manifest_.layer("syscall").state = "on";
  EXPECT_TRUE(unseen_requests(definitions_, manifest_).empty());
}

// It ends without exit(), and cannot tell what the kernel counted. If it can, that is one reason.
TEST_F(UnseenTest, ProgramsOfGo) {
  fact(counted(10, 0, 4 * kMiB), FATHOM_META_UNSEEN "Go", FATHOM_META_UNSEEN_LOADED);
  const std::vector<NotCovered> found = unseen_requests(definitions_, manifest_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "raw system calls");
  EXPECT_THAT(found[0].reason, HasSubstr("Go's runtime makes its system calls itself"));
  EXPECT_TRUE(bytes().empty());
  manifest_.layer("syscall").state = "on";
  EXPECT_TRUE(unseen_requests(definitions_, manifest_).empty());
}

TEST_F(UnseenTest, InterpretersThatWereNotTraced) {
  Process& one = process(10);
  EXPECT_TRUE(untraced_interpreters(definitions_).empty());
  fact(one, "reason:python", "Python 3.9.2: no extension");
  fact(process(11), "reason:gpu", "no GPU");
  const std::vector<NotCovered> found = untraced_interpreters(definitions_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].program, "/bin/p10");
  EXPECT_EQ(found[0].reason, "Python 3.9.2: no extension");
  manifest_.layer("python").state = "on";
  manifest_.layer("gpu").state = "on";
  for (const auto& each : definitions_.processes()) take_reasons(definitions_, *each, manifest_);
  EXPECT_EQ(manifest_.layer("python").state, "partial");
  EXPECT_EQ(manifest_.layer("gpu").state, "on");
}

}  // namespace
}  // namespace fathom::trace
