// SPDX-License-Identifier: MIT
#include "trace/recording/replace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "trace/recording/manifest.h"
#include "trace/testing/spool_builder.h"

namespace fathom::trace {
namespace {

class Replace : public ::testing::Test {
 protected:
  [[nodiscard]] std::string in(const std::string& name) const {
    return join_path(root_.path(), name);
  }
  void put(const std::string& name, const std::string& content = "x") const {
    ASSERT_TRUE(make_dirs(std::string(dir_name(in(name)))));
    ASSERT_TRUE(write_file_atomic(in(name), content));
  }
  void record(const std::string& name) const {
    Manifest manifest;
    manifest.run_id = "0123456789abcdef0123456789abcdef";
    put(name + "/" + kManifestFile, format_manifest(manifest));
  }
  testing::TempDir root_;
};

TEST_F(Replace, RecordingsAreRemovedWithAllThatFathomMakes) {
  record("trace");
  for (const char* name : {"events-0.parquet",
                           "samples-12.parquet",
                           "frames.parquet",
                           "manifest.json.0123abcd.tmp",
                           "spool/7.pool",
                           "spool/41-9f3a-2.pool",
                           "spool/schema-0123456789abcdef",
                           "spool/lock",
                           "spool/publish.lock",
                           "spool/drained-3.log",
                           "spool/definitions.log",
                           "spool/carry-3",
                           "spool/events-4.parquet",
                           "spool/wanted-41",
                           "spool/leaves-41",
                           "spool/said-where",
                           "spool/said-settings",
                           "spool/last",
                           "spool/uncovered",
                           "spool/nobody-collects",
                           "spool/collector.lock",
                           "spool/run.header.99999999.tmp",
                           "spool/schema-0123456789abcdef.4711",
                           ".spool-packed/lock"})
    put(std::string("trace/") + name);
  const Status removed = remove_recording(in("trace"));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(path_exists(in("trace")));
}

TEST_F(Replace, SpoolsWithoutAManifestAreRemoved) {
  const testing::SpoolBuilder builder(in("half"));
  const Status removed = remove_recording(in("half"));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(path_exists(in("half")));
}

// Each is refused, named, and left as it was.
TEST_F(Replace, WhatOthersMadeIsKept) {
  const char* const strangers[] = {
      "thesis.tex",       ".git/HEAD",        "src/main.c",        "results.parquet",
      "spool/mail",       "spool/sub/7.pool", "manifest.json.tmp", "events-0.parquet/inner",
      "events-x.parquet", "spool/x.pool",     "manifest.json.old", ".spool-packed/notes"};
  int number = 0;
  for (const char* name : strangers) {
    const std::string trace = "trace" + std::to_string(number++);
    record(trace);
    put(trace + "/" + name);
    const Status refused = remove_recording(in(trace));
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Code::kInvalid) << name;
    EXPECT_TRUE(path_exists(in(trace + "/" + name))) << name;
    EXPECT_TRUE(path_exists(in(trace + "/" + kManifestFile))) << name;
    const std::string first = std::string(name).substr(0, std::string(name).rfind('/'));
    EXPECT_NE(refused.error().message.find(first), std::string::npos) << refused.error().message;
  }
}

TEST_F(Replace, AManifestOfSomebodyElseIsNoRecording) {
  for (const char* content : {R"({"name":"x"})", R"({"schema":1})", "x", "",
                              R"({"schema":1,"state":"complete","run_id":"7"})"}) {
    put("web/manifest.json", content);
    EXPECT_FALSE(remove_recording(in("web"))) << content;
    EXPECT_EQ(read_file(in("web/manifest.json")).value(), content);
  }
  put("other/spool/run.header", "x");
  EXPECT_FALSE(remove_recording(in("other")));
}

TEST_F(Replace, TheCurrentDirectoryAndThoseAboveItStay) {
  const std::string before = real_path(".").value();
  ASSERT_TRUE(make_dirs(in("empty/inner")));
  record("trace");
  ASSERT_EQ(chdir(in("trace").c_str()), 0);
  EXPECT_FALSE(remove_recording(in("trace")));
  EXPECT_FALSE(remove_recording("."));
  EXPECT_FALSE(remove_recording(".."));
  ASSERT_EQ(chdir(in("empty").c_str()), 0);
  EXPECT_FALSE(remove_recording(in("empty")));
  EXPECT_TRUE(remove_recording(in("empty/inner")));
  ASSERT_EQ(chdir(before.c_str()), 0);
  EXPECT_TRUE(path_exists(in("trace/manifest.json")));
}

}  // namespace
}  // namespace fathom::trace
