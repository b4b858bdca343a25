// SPDX-License-Identifier: MIT
// Each rule has a recording that fires it and a near miss that does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analysis/insights/insights.h"
#include "analysis/insights/scene_test.h"
#include "base/cell.h"
#include "trace/testing/spool_builder.h"

namespace fathom::analysis {
namespace {

using testing::at;
using testing::backwards;
using testing::by;
using testing::Calls;
using testing::kMiB;
using testing::kMicrosecond;
using testing::kMillisecond;
using testing::kSecond;
using testing::named;
using testing::of;
using testing::reads;
using testing::Scene;
using testing::writes;

struct Case {
  std::string rule;
  Scene fires;
  Scene near_miss;
};

// The same file read from its start again and again.
Scene over_and_over(const Calls& calls, int times) {
  Scene scene;
  for (int i = 0; i < times; ++i) scene.calls(calls);
  return scene;
}

Scene growing(double each) {
  Scene scene(10 * kSecond);
  for (int i = 0; i < 100; ++i)
    scene.counter("rss", 10, std::int64_t{i} * 100 * kMillisecond, 100e6 + each * i);
  return scene;
}

// 40 waits for data, and twice as many calls of 8 ms that compute.
Scene training(std::int64_t wait) {
  Scene scene(2 * kSecond);
  scene.calls(named("app", "fetch", "dataloader", 40, wait));
  for (const char* name : {"forward", "backward"})
    scene.calls(named("app", name, "compute", 40, 8 * kMillisecond));
  return scene;
}

// Two stretches that only write, with computing between them.
Scene checkpoints(std::int64_t idle) {
  Scene scene(8 * kSecond);
  for (int i = 0; i < 3; ++i) {
    scene.idle(idle);
    scene.calls(at(writes(400, kMiB / 4, kMillisecond), "/data/checkpoint" + std::to_string(i)));
  }
  return scene;
}

Scene many_files(int files, std::int64_t bytes) {
  Scene scene;
  for (int i = 0; i < files; ++i) {
    const std::string file = "/data/sample" + std::to_string(i);
    scene.calls(at(named("posix", "open", "open", 1, 30 * kMicrosecond), file));
    scene.calls(at(reads(1, bytes, 10 * kMicrosecond), file));
    scene.calls(at(named("posix", "close", "close", 1, kMicrosecond), file));
  }
  return scene;
}

Scene opened_again(int files, int times) {
  Scene scene;
  for (int i = 0; i < files; ++i) {
    const std::string file = "/data/log" + std::to_string(i);
    scene.calls(at(named("posix", "open", "open", times, 20 * kMicrosecond), file));
    scene.calls(at(named("posix", "close", "close", times, kMicrosecond), file));
  }
  return scene;
}

Scene short_processes(std::int32_t count) {
  Scene scene;
  for (std::int32_t i = 0; i < count; ++i) scene.short_process(1000 + i, 5 * kMillisecond);
  return scene;
}

Scene two(const Calls& calls) { return Scene().calls(by(calls, 10)).calls(by(calls, 11)); }

Scene ranks(std::int64_t slow) {
  Scene scene;
  for (std::int32_t pid = 10; pid < 14; ++pid) {
    scene.rank(pid, pid - 10);
    scene.calls({.layer = "app",
                 .name = "step",
                 .category = "train",
                 .file = "",
                 .dur = pid == 13 ? slow : 500 * kMillisecond,
                 .pid = pid});
  }
  return scene;
}

// What the program used of a CPU, and how busy the machine was.
Scene cpu(Scene scene, double seconds, double busy) {
  return scene.counter("cpu_user", 10, 0, 0)
      .counter("cpu_user", 10, 2 * kSecond, seconds)
      .counter("cpu_busy", 10, kSecond, busy);
}

Scene looked_up(int files, int times) {
  Scene scene;
  for (int i = 0; i < files; ++i)
    scene.calls(at(named("posix", "stat", "metadata", times, 20 * kMicrosecond),
                   "/data/part" + std::to_string(i)));
  return scene;
}

Scene locks(std::int64_t each) {
  Scene scene;
  for (const std::int32_t pid : {10, 11})
    scene.calls(by(named("posix", "flock", "lock", 100, each), pid));
  return scene;
}

Scene runqueue(std::int64_t time) {
  return Scene().calls(named("sched", "runqueue", "wait", 100, time / 100));
}

Scene slow_ones(std::int64_t slow) {
  return Scene()
      .calls(reads(4000, 4096, 5 * kMicrosecond))
      .calls(at(reads(5, 4096, slow), "/data/other"));
}

Scene flushes(std::int64_t count) {
  return Scene()
      .calls(
          at({.layer = "stdio", .name = "fprintf", .category = "write", .count = 2000, .bytes = 80},
             "/data/log"))
      .calls(at(named("stdio", "fflush", "sync", count, 10 * kMicrosecond), "/data/log"));
}

Scene syncs(std::int64_t count, std::int64_t bytes) {
  return Scene()
      .calls(writes(count, bytes, kMicrosecond))
      .calls(at(named("posix", "fsync", "sync", count, kMillisecond), "/data/out"));
}

Scene seeks(std::int64_t count) {
  return Scene()
      .calls(reads(2000, 65536, 10 * kMicrosecond))
      .calls(named("posix", "lseek", "seek", count, 20 * kMicrosecond));
}

Scene failing(std::int64_t count) {
  return Scene()
      .calls(of(named("posix", "open", "open", count, 20 * kMicrosecond),
                [](Calls& calls) { calls.failed = true; }))
      .calls(named("posix", "open", "open", 2000, kMicrosecond));
}

Scene refused(std::int64_t count) {
  return Scene().calls(of(reads(count, 4096, kMicrosecond), [](Calls& calls) {
    calls.failed = true;
    calls.error = "EINVAL";
    calls.bytes = 0;
  }));
}

Calls stdio(Calls calls) {
  calls.layer = "stdio";
  return calls;
}

Scene shared_part(std::int64_t first, std::int64_t second) {
  return Scene()
      .calls(by(reads(first, kMiB, 2 * kMillisecond), 10))
      .calls(by(reads(second, kMiB, 2 * kMillisecond), 11));
}

Scene shared_out(std::int64_t first, std::int64_t second) {
  return Scene()
      .calls(by(writes(first, kMiB, 2 * kMillisecond), 10))
      .calls(by(writes(second, kMiB, 2 * kMillisecond), 11));
}

std::vector<Case> cases_of_access() {
  return {
      {"small-reads", Scene().calls(reads(2000, 4096, 50 * kMicrosecond)),
       Scene().calls(reads(900, 4096, 50 * kMicrosecond))},
      {"small-writes", Scene().calls(writes(2000, 4096, 50 * kMicrosecond)),
       Scene().calls(writes(2000, kMiB / 8, 50 * kMicrosecond))},
      {"stdio-bytes", Scene().calls(stdio(reads(400'000, 256, kMicrosecond))),
       Scene().calls(stdio(reads(100, kMiB, kMillisecond)))},
      {"random-reads", Scene().calls(backwards(reads(2000, 4096, 50 * kMicrosecond))),
       Scene().calls(backwards(reads(20000, 4096, 6 * kMicrosecond)))},
      {"random-writes", Scene().calls(backwards(writes(2000, 4096, 50 * kMicrosecond))),
       Scene().calls(writes(2000, 4096, 50 * kMicrosecond))},
      {"sequential-reads", Scene().calls(reads(2000, 4096, kMicrosecond)),
       Scene().calls(backwards(reads(2000, 4096, kMicrosecond)))},
      {"sequential-writes", Scene().calls(writes(2000, 4096, kMicrosecond)),
       Scene().calls(backwards(writes(2000, 4096, kMicrosecond)))},
      {"misaligned-offsets", Scene().calls(reads(2000, 5000, 50 * kMicrosecond)),
       Scene().calls(reads(2000, 1000, 50 * kMicrosecond))},
      {"direct-io-refused", refused(20), refused(9)},
      {"read-again", over_and_over(reads(100, 65536, 100 * kMicrosecond), 4),
       over_and_over(reads(100, 65536, 100 * kMicrosecond), 1)},
      {"written-again", over_and_over(writes(100, 65536, 100 * kMicrosecond), 4),
       over_and_over(writes(100, 65536, 100 * kMicrosecond), 1)},
      {"shared-file-small-reads", two(reads(1000, 4096, 100 * kMicrosecond)),
       Scene().calls(reads(2000, 4096, 100 * kMicrosecond))},
      {"shared-file-small-writes", two(writes(1000, 4096, 100 * kMicrosecond)),
       Scene().calls(writes(2000, 4096, 100 * kMicrosecond))},
  };
}

std::vector<Case> cases_of_balance() {
  return {
      {"more-reads-than-writes", Scene().calls(reads(1500, 10, 1000)),
       Scene().calls(reads(1000, 10, 1000)).calls(writes(1000, 10, 1000))},
      {"more-writes-than-reads", Scene().calls(writes(1500, 10, 1000)),
       Scene().calls(reads(1000, 10, 1000)).calls(writes(1000, 10, 1000))},
      {"more-bytes-read", Scene().calls(reads(32, kMiB, 1000)),
       Scene().calls(reads(32, kMiB, 1000)).calls(writes(32, kMiB, 1000))},
      {"more-bytes-written", Scene().calls(writes(32, kMiB, 1000)),
       Scene().calls(reads(32, kMiB, 1000)).calls(writes(32, kMiB, 1000))},
      {"metadata-time", Scene().calls(named("posix", "stat", "metadata", 2000, 100 * kMicrosecond)),
       Scene().calls(named("posix", "stat", "metadata", 2000, 20 * kMicrosecond))},
      {"metadata-storm", Scene().calls(named("posix", "stat", "metadata", 30000, 3 * kMicrosecond)),
       Scene()
           .calls(named("posix", "stat", "metadata", 30000, 3 * kMicrosecond))
           .calls(reads(20000, 4096, kMicrosecond))},
      {"process-bytes-imbalance", shared_part(30, 10), shared_part(20, 20)},
      {"process-time-imbalance",
       Scene()
           .calls(by(reads(100, 4096, 5 * kMillisecond), 10))
           .calls(by(reads(100, 4096, kMillisecond), 11)),
       Scene()
           .calls(by(reads(100, 4096, kMillisecond), 10))
           .calls(by(reads(100, 4096, kMillisecond), 11))},
      {"shared-file-read-imbalance", shared_part(30, 1), shared_part(16, 15)},
      {"shared-file-write-imbalance", shared_out(30, 1), shared_out(16, 15)},
  };
}

std::vector<Case> cases_across_layers() {
  return {
      {"sync-in-a-loop", syncs(200, 4096), syncs(50, 4096)},
      {"read-by-every-worker", two(reads(20, kMiB, 5 * kMillisecond)),
       Scene()
           .calls(by(reads(20, kMiB, 5 * kMillisecond), 10))
           .calls(at(by(reads(20, kMiB, 5 * kMillisecond), 11), "/data/b"))},
      {"failed-opens", failing(2000), failing(500)},
      {"open-close-churn", opened_again(10, 200), opened_again(200, 9)},
      {"many-small-files", many_files(1600, 4096), many_files(1200, kMiB)},
      {"repeated-stat", looked_up(10, 200), looked_up(200, 9)},
      {"lock-waits", locks(100 * kMillisecond / 100), locks(kMicrosecond)},
      {"waits-for-cpu", runqueue(200 * kMillisecond), runqueue(50 * kMillisecond)},
      {"seek-before-each-call", seeks(2000), seeks(900)},
      {"io-bound", Scene().calls(reads(100, kMiB, 6 * kMillisecond)),
       Scene().calls(reads(100, kMiB, 3 * kMillisecond))},
      {"slow-outliers", slow_ones(100 * kMillisecond), slow_ones(kMillisecond)},
      {"checkpoint-stalls", checkpoints(2 * kSecond), checkpoints(0)},
      {"memory-growth", growing(5e6), growing(1e5)},
      {"slow-rank", ranks(900 * kMillisecond), ranks(520 * kMillisecond)},
      {"computing-waits-for-reads",
       cpu(Scene(2 * kSecond).calls(reads(2000, 4096, 500 * kMicrosecond)), 0.5, 30),
       cpu(Scene(2 * kSecond).calls(reads(2000, 4096, 500 * kMicrosecond)), 0.5, 95)},
      {"training-waits-for-data", training(8 * kMillisecond), training(3 * kMillisecond)},
      {"process-storm", short_processes(300), short_processes(100)},
      {"flush-each-line", flushes(1500), flushes(500)},
      {"events-lost", Scene().loss("no room", 3), Scene()},
  };
}

// A kernel every 10 ms.
Scene gpu_steps(std::int64_t each) {
  Scene scene(2 * kSecond);
  for (int i = 0; i < 150; ++i)
    scene.calls(named("gpu", "gemm", "kernel", 1, each)).idle(10 * kMillisecond - each);
  return scene;
}

// Kernels and the calls that launch them.
Scene device(std::int64_t kernels, std::int64_t each, std::int64_t launch) {
  return Scene(2 * kSecond)
      .calls(named("gpu", "gemm", "kernel", kernels, each))
      .calls(named("cuda", "cuLaunchKernel", "launch", kernels, launch))
      .idle(600 * kMillisecond)
      .calls(named("gpu", "memset", "set", 1, kMicrosecond));
}

Scene waiting(std::int64_t waits, std::int64_t launches) {
  return Scene()
      .calls(named("cuda", "cuStreamSynchronize", "sync", waits, kMillisecond))
      .calls(named("cuda", "cuLaunchKernel", "launch", launches, kMicrosecond));
}

Scene transfers(std::int64_t bytes) {
  return Scene().calls(of(named("cuda", "cuMemcpyHtoDAsync", "copy", 2000, 50 * kMicrosecond),
                          [bytes](Calls& calls) { calls.bytes = bytes; }));
}

Scene slowed(double share) {
  Scene scene(10 * kSecond);
  for (int i = 0; i < 100; ++i)
    scene.counter("gpu1_slowed", 0, std::int64_t{i} * 100 * kMillisecond, i < share ? 100 : 0);
  return scene;
}

std::vector<Case> cases_of_devices() {
  return {
      {"gpus-idle", gpu_steps(3 * kMillisecond), gpu_steps(9 * kMillisecond)},
      {"small-kernels", device(20000, 2 * kMicrosecond, 8 * kMicrosecond),
       device(20000, 10 * kMicrosecond, 8 * kMicrosecond)},
      {"waits-for-gpu", waiting(300, 3000), waiting(300, 9000)},
      {"small-transfers", transfers(4096), transfers(kMiB)},
      {"gpu-memory-churn",
       Scene().calls(named("cuda", "cuMemAlloc", "memory", 2000, 50 * kMicrosecond)),
       Scene().calls(named("cuda", "cuMemAllocAsync", "memory", 2000, 50 * kMicrosecond))},
      {"gpu-code-loading",
       Scene(2 * kSecond).calls(named("cuda", "cuModuleLoadData", "module", 60, 10 * kMillisecond)),
       Scene(2 * kSecond).calls(named("cuda", "cuModuleLoadData", "module", 9, 10 * kMillisecond))},
      {"gpu-slowed", slowed(20), slowed(5)},
  };
}

constexpr char kMutex[] =
    "main;push;pthread_mutex_lock!/lib/libc.so.6;futex_wait![kernel];schedule![kernel]";
constexpr char kSemaphore[] =
    "main;next_job;sem_wait!/lib/libc.so.6;futex_wait![kernel];schedule![kernel]";
constexpr char kNap[] = "main;look;usleep!/lib/libc.so.6;do_nanosleep![kernel];schedule![kernel]";
constexpr char kWait[] = "main;wait4!/lib/libc.so.6;do_wait![kernel];schedule![kernel]";
constexpr char kFault[] = "main;fill;asm_exc_page_fault![kernel];clear_page![kernel]";

// Two threads, of which the second holds what the first one waits for.
Scene locked(const char* waits_in, std::int64_t waits) {
  return Scene()
      .thread(10, 11)
      .waited(10, 10, waits_in, waits, 10 * kMillisecond)
      .ran(10, 11, "worker;compute", waits, 10 * kMillisecond);
}

Scene computing(const char* name, std::int64_t samples) {
  return Scene(10 * kSecond)
      .ran(10, 10, std::string("main;") + name, samples, 10 * kMillisecond)
      .ran(10, 10, "main;other", 200, 10 * kMillisecond)
      .ran(10, 10, "main;third", 200, 10 * kMillisecond);
}

Scene children(std::int32_t count, std::int64_t cpu) {
  Scene scene(2 * kSecond);
  scene.cores(4).waited(10, 10, kWait, count, 60 * kMillisecond);
  for (std::int32_t i = 0; i < count; ++i) {
    scene.child(100 + i, 10).short_process(100 + i, 55 * kMillisecond);
    scene.ran(100 + i, 100 + i, "main;compile", 5, cpu / 5);
  }
  return scene;
}

// A read of the socket for each wait in it.
Scene asking(const std::string& peer) {
  Scene scene;
  for (int i = 0; i < 120; ++i) {
    scene.calls(
        of(at(reads(1, 100, 6 * kMillisecond), ""), [&](Calls& calls) { calls.peer = peer; }));
    scene.waited(10, 10, "main;read!/lib/libc.so.6;sock_recvmsg![kernel];schedule![kernel]", 1,
                 6 * kMillisecond);
  }
  return scene;
}

std::vector<Case> cases_of_time() {
  return {
      {"lock-contention", locked(kMutex, 60), locked(kSemaphore, 60)},
      {"hot-function", computing("solve", 500), computing("solve", 350)},
      {"children-in-turn", children(30, 50 * kMillisecond), children(30, 5 * kMillisecond)},
      {"waits-for-server", asking("socket 10.0.0.7:5432"), asking("socket 10.0.0.7:40123")},
      {"sleep-in-a-loop",
       Scene()
           .waited(10, 10, kNap, 80, 5 * kMillisecond)
           .waited(10, 11, kNap, 1, 900 * kMillisecond),
       Scene().waited(10, 10, kNap, 8, 50 * kMillisecond)},
      {"page-faults", Scene(2 * kSecond).ran(10, 10, kFault, 120, 5 * kMillisecond),
       Scene(2 * kSecond).ran(10, 10, "main;fill", 120, 5 * kMillisecond)},
      {"few-instructions-per-cycle",
       Scene().counter("cycles", 10, 0, 4e9, "cpu").counter("instructions", 10, 0, 1e9, "cpu"),
       Scene().counter("cycles", 10, 0, 4e9, "cpu").counter("instructions", 10, 0, 8e9, "cpu")},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = cases_of_access();
  for (const auto& more :
       {cases_of_balance(), cases_across_layers(), cases_of_devices(), cases_of_time()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

// How many rows the page finds at a place, by the question that a user may ask too.
Result<std::int64_t> rows_at(Store& store, const std::string& place) {
  const std::size_t where = place.find(" where ");
  if (where == std::string::npos) return std::int64_t{place.starts_with("view ") ? 1 : 0};
  FATHOM_ASSIGN(const Table rows,
                store.query_untrusted("SELECT count(*) FROM " + place.substr(0, where) +
                                      " WHERE (" + place.substr(where + 7) + ")"));
  return int_of(rows.rows[0][0]);
}

Result<std::vector<Insight>> asked(const Scene& scene, const Rule& rule, bool at_place = false) {
  const trace::testing::TempDir directory;
  FATHOM_ASSIGN(Store store, scene.open(directory.path() + "/scene.fathom"));
  FATHOM_ASSIGN(std::vector<Insight> found, find_insights(store, std::span(&rule, 1)));
  FATHOM_ASSIGN(const Table rows, evidence_of(store, rule));
  if (!found.empty() && rows.rows.empty())
    return Error{Code::kCorrupt, "it fires without evidence", ""};
  if (at_place && !found.empty() && !found.front().place.empty()) {
    FATHOM_ASSIGN(const std::int64_t rows_there, rows_at(store, found.front().place));
    if (rows_there == 0) return Error{Code::kCorrupt, "nothing is at " + found.front().place, ""};
  }
  return found;
}

TEST(Rules, FireOnTheirTroubleAndNotOnANearMiss) {
  const Result<std::vector<Rule>> rules = own_rules();
  ASSERT_TRUE(rules) << rules.error().message;
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.rule);
    const auto rule = std::ranges::find(*rules, one.rule, &Rule::id);
    ASSERT_NE(rule, rules->end());
    const auto fires = asked(one.fires, *rule);
    ASSERT_TRUE(fires) << fires.error().message;
    ASSERT_EQ(fires->size(), 1U) << "it does not fire";
    EXPECT_EQ(fires->front().says.find('?'), std::string::npos) << fires->front().says;
    EXPECT_TRUE(!fires->front().gain_ns || !rule->gain.empty()) << "a gain without its why";
    const auto near = asked(one.near_miss, *rule);
    ASSERT_TRUE(near) << near.error().message;
    EXPECT_TRUE(near->empty()) << "fires on a near miss: " << near->front().says;
  }
}

Result<std::string> words_of(const Scene& scene, const std::string& id) {
  FATHOM_ASSIGN(const std::vector<Rule> rules, own_rules());
  const auto rule = std::ranges::find(rules, id, &Rule::id);
  FATHOM_ASSIGN(const std::vector<Insight> found, asked(scene, *rule));
  return found.empty() ? std::string() : found.front().says;
}

// Only one other thread ran while this one waited.
TEST(Rules, WhoHeldALockIsNamedWhereItCanBeOneThreadAlone) {
  const auto words = words_of(locked(kMutex, 60), "lock-contention");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_NE(words->find("thread 11 held it most of that time"), std::string::npos) << *words;
  const auto unsure = words_of(
      locked(kMutex, 60).thread(10, 12).ran(10, 12, "worker;compute", 60, 10 * kMillisecond),
      "lock-contention");
  ASSERT_TRUE(unsure) << unsure.error().message;
  EXPECT_EQ(unsure->find("held"), std::string::npos) << *unsure;
  EXPECT_NE(unsure->find("pthread_mutex_lock in push"), std::string::npos) << *unsure;
}

TEST(Rules, ALockIsNotBlamedForCpusThatOthersHave) {
  EXPECT_EQ(*words_of(locked(kMutex, 60).ready(10, 700 * kMillisecond), "lock-contention"), "");
  EXPECT_NE(*words_of(locked(kMutex, 60).ready(10, 200 * kMillisecond), "lock-contention"), "");
}

// Layer cpu tells it as layer sched does, by the kernel's own count.
TEST(Rules, TheRunQueueIsKnownWithoutLayerSched) {
  const auto words = words_of(Scene().ready(10, 300 * kMillisecond), "waits-for-cpu");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_TRUE(words->ends_with("; the thread of process 10 waited 300 ms")) << *words;
  EXPECT_EQ(*words_of(Scene().ready(10, 90 * kMillisecond), "waits-for-cpu"), "");
}

TEST(Rules, EveryOneHasItsCase) {
  const Result<std::vector<Rule>> rules = own_rules();
  ASSERT_TRUE(rules) << rules.error().message;
  const std::vector<Case> all = cases();
  for (const Rule& rule : *rules)
    EXPECT_NE(std::ranges::find(all, rule.id, &Case::rule), all.end()) << rule.id;
  EXPECT_EQ(all.size(), rules->size());
}

// What was lost is nowhere.
TEST(Rules, EveryOneHasAPlaceThatTheRecordingHas) {
  const Result<std::vector<Rule>> rules = own_rules();
  ASSERT_TRUE(rules) << rules.error().message;
  const std::vector<Case> all = cases();
  for (const Rule& rule : *rules) {
    SCOPED_TRACE(rule.id);
    EXPECT_EQ(rule.place.empty(), rule.id == "events-lost");
    const auto one = std::ranges::find(all, rule.id, &Case::rule);
    ASSERT_NE(one, all.end());
    const auto found = asked(one->fires, rule, /*at_place=*/true);  // fails where nothing is there
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().place.empty(), rule.place.empty());
  }
}

TEST(Rules, SayNothingAboutAnEmptyRecording) {
  const trace::testing::TempDir directory;
  Result<Store> store = Scene().open(directory.path() + "/empty.fathom");
  ASSERT_TRUE(store) << store.error().message;
  const auto found = find_insights(*store, *own_rules());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty()) << found->front().rule;
}

}  // namespace
}  // namespace fathom::analysis
