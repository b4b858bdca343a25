// SPDX-License-Identifier: MIT
#include "containers/tar_text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/files.h"
#include "containers/control_groups.h"
#include "containers/data_hash.h"
#include "containers/profiler_script.h"
#include "trace/testing/spool_builder.h"

namespace fathom::containers {
namespace {

using trace::testing::TempDir;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(TarText, TarReadsIt) {
  const TempDir folder;
  TarText tar;
  ASSERT_TRUE(tar.add_directory("app"));
  ASSERT_TRUE(tar.add_file("app/a.sh", "echo deep\n", 0755));
  ASSERT_TRUE(tar.add_file("app/b", std::string(513, 'b'), 0644));
  EXPECT_FALSE(tar.add_file(std::string(101, 'x'), "", 0644));
  write(folder.path() + "/x.tar", std::move(tar).take());
  const std::string line =
      "cd '" + folder.path() + "' && tar xf x.tar && test -x app/a.sh && ./app/a.sh > said";
  ASSERT_EQ(std::system(line.c_str()), 0);  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
  EXPECT_EQ(*read_file(folder.path() + "/said"), "deep\n");
  EXPECT_EQ(read_file(folder.path() + "/app/b")->size(), 513U);
}

TEST(DataHash, TellsDataApart) {
  const TempDir folder;
  const auto go_on = [] { return true; };
  const std::string data = folder.path() + "/data";
  ASSERT_TRUE(make_dirs(data + "/deep"));
  write(data + "/deep/a", "12");
  const Result<std::string> first = hash_of_data(data, go_on);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 64U);
  EXPECT_EQ(*hash_of_data(data, go_on), *first);
  write(data + "/deep/a", "13");
  const std::string second = *hash_of_data(data, go_on);
  EXPECT_NE(second, *first);
  ASSERT_TRUE(rename_path(data + "/deep/a", data + "/deep/b"));
  EXPECT_NE(*hash_of_data(data, go_on), second);
  EXPECT_NE(*hash_of_data(data + "/deep/b", go_on), *hash_of_data(data, go_on));
  EXPECT_FALSE(hash_of_data(data, [] { return false; }));
  EXPECT_FALSE(hash_of_data(data + "/missing", go_on));
}

TEST(ControlGroups, OfAllVersions) {
  EXPECT_EQ(group_in("0::/docker/ab\n"), "/docker/ab");
  EXPECT_EQ(group_in("9:name=systemd:/x\n4:memory:/docker/ab\n0::/\n"), "/docker/ab");
  EXPECT_EQ(group_in("1:cpu,cpuacct:/a:b\n0::/second\n"), "/a:b");
  EXPECT_EQ(group_in("4:memory:/\n0::/\n"), "");
  EXPECT_EQ(group_in("nonsense"), "");
  EXPECT_TRUE(is_runtime("runc:[2:INIT]"));
  EXPECT_FALSE(is_runtime("python3"));
}

TEST(ProfilerScript, IsAScriptOfTheShell) {
  const TempDir folder;
  write(folder.path() + "/s", profiler_script("ld.so"));
  const std::string line = "sh -n '" + folder.path() + "/s'";
  EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
}

}  // namespace
}  // namespace fathom::containers
