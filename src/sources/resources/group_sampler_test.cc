// SPDX-License-Identifier: MIT
// Control groups that the test makes, against their own files; those of the second version, whose
// controllers a machine gives to one version only, as files of the test's own.
#include "sources/resources/group_sampler.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>

#include "base/proc_text.h"
#include "base/testing/emulation.h"

namespace fathom::sources {
namespace {

constexpr double kMiB = 1 << 20;

struct Row {
  std::int64_t ts = 0;
  std::string unit;
  double value = 0;
};
using Rows = std::multimap<std::string, Row>;

Rows sampled(GroupSampler& sampler, std::int64_t ts) {
  Rows rows;
  sampler.sample(ts,
                 [&](std::int64_t at, std::string_view name, std::string_view unit, double value) {
                   rows.emplace(name, Row{at, std::string(unit), value});
                 });
  return rows;
}

double value_of(const Rows& rows, const std::string& name) {
  const auto found = rows.find(name);
  EXPECT_NE(found, rows.end()) << name;
  return found == rows.end() ? -1 : found->second.value;
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

double number_in(const std::string& path, const char* key = "") {
  const Result<std::string> text = read_file(path);
  const auto number =
      *key == '\0' ? only_number(text ? *text : "") : number_of(text ? *text : "", key);
  return number ? static_cast<double>(*number) : -1;
}

// A group in every hierarchy of the first version, and what ran in it is killed with it.
class OwnGroup {
 public:
  explicit OwnGroup(const std::string& name) {
    for (const char* controller : {"cpu", "cpuacct", "memory", "blkio", "pids"}) {
      const std::string path = std::string("/sys/fs/cgroup/") + controller + "/" + name;
      if (mkdir(path.c_str(), 0755) == 0) directories_.push_back(path);
    }
  }
  ~OwnGroup() {
    for (const std::string& path : directories_) {
      for (int i = 0; i < 200 && rmdir(path.c_str()) != 0; ++i) usleep(10'000);
    }
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;

  [[nodiscard]] bool whole() const { return directories_.size() == 5; }
  void join() const {
    for (const std::string& path : directories_) put(path + "/cgroup.procs", "0");
  }

 private:
  std::vector<std::string> directories_;
};

// Works in a group, then sleeps until it is killed.
class Worker {
 public:
  template <class Work>
  Worker(const OwnGroup& group, Work work) {
    pid_ = fork();
    if (pid_ == 0) {
      group.join();
      work();
      raise(SIGSTOP);
      _exit(0);
    }
    waitpid(pid_, &status_, WUNTRACED);
  }
  ~Worker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool was_killed() const { return WIFSIGNALED(status_); }

 private:
  pid_t pid_ = 0;
  int status_ = 0;
};

void burn(double seconds) {
  while (static_cast<double>(clock()) / CLOCKS_PER_SEC < seconds) {
  }
}

void touch(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
}

class OfTheFirstVersion : public ::testing::Test {
 protected:
  void SetUp() override {
    FATHOM_SKIP_UNDER_EMULATION("control groups are the machine's");
    group_ = std::make_unique<OwnGroup>(name_);
    if (!group_->whole())
      GTEST_SKIP() << "control groups of version 1 cannot be made here (root, and not version 2)";
  }
  [[nodiscard]] std::string at(const std::string& controller, const std::string& file = "") const {
    return "/sys/fs/cgroup/" + controller + "/" + name_ + (file.empty() ? "" : "/" + file);
  }

  std::string name_ = "fathom-test-" + std::to_string(getpid());
  std::unique_ptr<OwnGroup> group_;
};

TEST_F(OfTheFirstVersion, TellsWhatItsFilesSay) {
  const Worker worker(*group_, [] {
    touch(static_cast<std::size_t>(24 * kMiB));
    burn(0.05);
  });
  GroupSampler sampler(at("memory"));
  const Rows rows = sampled(sampler, 7);
  EXPECT_EQ(value_of(rows, "cgroup_cpu"), number_in(at("cpuacct", "cpuacct.usage")));
  EXPECT_GE(value_of(rows, "cgroup_cpu"), 4e7);  // a little was burnt before it joined
  EXPECT_EQ(value_of(rows, "cgroup_memory"), number_in(at("memory", "memory.usage_in_bytes")));
  EXPECT_EQ(value_of(rows, "cgroup_memory_peak"),
            number_in(at("memory", "memory.max_usage_in_bytes")));
  EXPECT_GE(value_of(rows, "cgroup_working_set"), 24 * kMiB);
  EXPECT_EQ(value_of(rows, "cgroup_pids"), 1);
  EXPECT_EQ(value_of(rows, "cgroup_oom_kills"), 0);
  EXPECT_TRUE(sampler.members().contains(worker.pid()));
  for (const auto& [name, row] : rows) EXPECT_EQ(row.ts, 7) << name;
}

TEST_F(OfTheFirstVersion, TheTimeOfTheCoresIsTheWholeTime) {
  const Worker worker(*group_, [] { burn(0.05); });
  GroupSampler sampler(at("cpuacct"));
  double sum = 0;
  for (const auto& [name, row] : sampled(sampler, 0)) {
    if (name.ends_with("_time")) sum += row.value;
  }
  EXPECT_EQ(sum, number_in(at("cpuacct", "cpuacct.usage")));
}

TEST_F(OfTheFirstVersion, ThrottlingIsTold) {
  put(at("cpu", "cpu.cfs_quota_us"), "5000");
  const Worker worker(*group_, [] { burn(0.03); });
  GroupSampler sampler(at("cpu"));
  const Rows rows = sampled(sampler, 0);
  EXPECT_GE(value_of(rows, "cgroup_throttled_periods"), 1);
  EXPECT_EQ(value_of(rows, "cgroup_throttled_periods"),
            number_in(at("cpu", "cpu.stat"), "nr_throttled"));
  EXPECT_GT(value_of(rows, "cgroup_throttled"), 0);
  EXPECT_DOUBLE_EQ(value_of(rows, "cgroup_cpu_limit"), 0.05);
}

TEST_F(OfTheFirstVersion, WhoTakesTooMuchMemoryIsCounted) {
  put(at("memory", "memory.limit_in_bytes"), "16M");
  const Worker worker(*group_, [] { touch(static_cast<std::size_t>(64 * kMiB)); });
  ASSERT_TRUE(worker.was_killed());
  GroupSampler sampler(at("memory"));
  const Rows rows = sampled(sampler, 0);
  EXPECT_EQ(value_of(rows, "cgroup_oom_kills"), 1);
  EXPECT_EQ(value_of(rows, "cgroup_memory_limit"), 16 * kMiB);
  EXPECT_EQ(value_of(rows, "cgroup_memory_peak"), 16 * kMiB);
}

TEST_F(OfTheFirstVersion, AGroupBelowCountsAlsoWhenItIsGone) {
  GroupSampler sampler(at("memory"));
  {
    const OwnGroup below(name_ + "/inner");
    ASSERT_TRUE(below.whole());
    put(at("memory", "inner/memory.limit_in_bytes"), "16M");
    const Worker worker(below, [] { touch(static_cast<std::size_t>(64 * kMiB)); });
    EXPECT_EQ(value_of(sampled(sampler, 0), "cgroup_oom_kills"), 1);
  }
  const Rows rows = sampled(sampler, 1);
  EXPECT_EQ(value_of(rows, "cgroup_oom_kills"), 1);
  EXPECT_EQ(value_of(rows, "cgroup_memory_peak"),
            number_in(at("memory", "memory.max_usage_in_bytes")));
  EXPECT_GT(value_of(rows, "cgroup_cpu"), 0);
}

TEST_F(OfTheFirstVersion, OneThatBeginsLaterBeganAtZero) {
  const std::string later = at("memory", "later");
  GroupSampler sampler(later);
  EXPECT_TRUE(sampled(sampler, 10).empty());
  EXPECT_TRUE(sampled(sampler, 20).empty());
  const OwnGroup below(name_ + "/later");
  const Worker worker(below, [] { burn(0.02); });
  const Rows first = sampled(sampler, 30);
  const auto [from, to] = first.equal_range("cgroup_cpu");
  ASSERT_EQ(std::distance(from, to), 2);
  EXPECT_EQ(from->second.ts, 20);
  EXPECT_EQ(from->second.value, 0);
  EXPECT_EQ(std::next(from)->second.ts, 30);
  EXPECT_EQ(first.count("cgroup_memory"), 1U);
  EXPECT_EQ(sampled(sampler, 40).count("cgroup_cpu"), 1U);
}

TEST_F(OfTheFirstVersion, ANetworkOfItsOwnIsTold) {
  const Worker worker(*group_, [] {
    if (unshare(CLONE_NEWNET) != 0) _exit(1);
  });
  GroupSampler sampler(at("memory"));
  const Rows rows = sampled(sampler, 0);
  EXPECT_EQ(value_of(rows, "cgroup_net_received"), 0);
  EXPECT_FALSE(sampler.facts().contains("cgroup.network"));
}

TEST_F(OfTheFirstVersion, TheMachinesNetworkIsNotItsOwn) {
  const Worker worker(*group_, [] {});
  GroupSampler sampler(at("memory"));
  EXPECT_EQ(sampled(sampler, 0).count("cgroup_net_received"), 0U);
  EXPECT_TRUE(sampler.facts().contains("cgroup.network"));
  EXPECT_TRUE(sampler.facts().contains("cgroup.writes"));
}

TEST(OfTheSecondVersion, TellsWhatItsFilesSay) {
  const std::string folder = ::testing::TempDir() + "group2";
  mkdir(folder.c_str(), 0755);
  const std::map<std::string, std::string> files = {
      {"cpu.stat", "usage_usec 1500\nnr_periods 9\nnr_throttled 4\nthrottled_usec 70\n"},
      {"cpu.max", "150000 100000\n"},
      {"memory.current", "5000000\n"},
      {"memory.peak", "6000000\n"},
      {"memory.max", "max\n"},
      {"memory.stat", "anon 100\nfile 4000\ninactive_file 3000\n"},
      {"memory.events", "low 0\noom 2\noom_kill 1\n"},
      {"io.stat", "8:0 rbytes=10 wbytes=20 rios=1 wios=2\n"},
      {"pids.current", "3\n"},
      {"pids.max", "24\n"},
      {"pids.events", "max 5\n"},
      {"cgroup.procs", ""},
      {"memory.pressure", "some avg10=0 avg60=0 avg300=0 total=11\n"},
  };
  for (const auto& [name, text] : files) put(join_path(folder, name), text);
  const GroupDirectory here = {.path = folder, .is_v2 = true};
  GroupSampler sampler(
      {.cpu = here, .cpuacct = here, .memory = here, .io = here, .pids = here, .pressure = folder},
      "/proc");
  const Rows rows = sampled(sampler, 0);
  const std::map<std::string, double> wanted = {{"cgroup_cpu", 1'500'000},
                                                {"cgroup_cpu0_time", 1'500'000},
                                                {"cgroup_throttled_periods", 4},
                                                {"cgroup_throttled", 70'000},
                                                {"cgroup_cpu_limit", 1.5},
                                                {"cgroup_memory", 5'000'000},
                                                {"cgroup_memory_peak", 6'000'000},
                                                {"cgroup_working_set", 4'997'000},
                                                {"cgroup_page_cache", 4000},
                                                {"cgroup_oom_kills", 1},
                                                {"cgroup_read_bytes", 10},
                                                {"cgroup_write_bytes", 20},
                                                {"cgroup_writes", 2},
                                                {"cgroup_pids", 3},
                                                {"cgroup_pids_limit", 24},
                                                {"cgroup_pids_refused", 5},
                                                {"cgroup_memory_pressure", 11'000}};
  for (const auto& [name, value] : wanted) EXPECT_DOUBLE_EQ(value_of(rows, name), value) << name;
  EXPECT_EQ(rows.count("cgroup_memory_limit"), 0U);
  EXPECT_TRUE(sampler.facts().contains("cgroup.cores"));
  EXPECT_FALSE(sampler.facts().contains("cgroup.writes"));
}

TEST(GroupSampler, OfTheSecondVersionAloneOnAHybridSystem) {
  const std::string top = ::testing::TempDir() + "/hybrid_group";
  ASSERT_TRUE(remove_tree(top));
  for (const char* folder : {"proc/self", "cpuacct", "memory/app", "unified/app"})
    ASSERT_TRUE(make_dirs(join_path(top, folder)));
  std::string mounts;
  for (const std::string name : {"cpuacct", "memory"})
    mounts += "30 25 0:26 / " + join_path(top, name) + " rw - cgroup cgroup rw," + name + "\n";
  put(top + "/proc/self/mountinfo",
      mounts + "31 25 0:27 / " + top + "/unified rw - cgroup2 cgroup2 rw\n");
  put(top + "/unified/app/cpu.stat", "usage_usec 250\n");
  put(top + "/memory/app/memory.usage_in_bytes", "4096\n");
  GroupSampler sampler(top + "/unified/app", top + "/proc");
  Rows rows = sampled(sampler, 1);
  EXPECT_EQ(value_of(rows, "cgroup_cpu"), 250'000);
  EXPECT_EQ(value_of(rows, "cgroup_memory"), 4096) << "the first version has this one";
  ASSERT_TRUE(make_dirs(top + "/cpuacct/app"));
  put(top + "/cpuacct/app/cpuacct.usage", "260000\n");
  rows = sampled(sampler, 2);
  EXPECT_EQ(value_of(rows, "cgroup_cpu"), 260'000);
}

}  // namespace
}  // namespace fathom::sources
