// SPDX-License-Identifier: MIT
// What adding to counters costs a store of jobs, and what it costs without one
// (bench/job_stores.py). usage: job_stores ADDRESS batches|rmw|hincrby UPDATES    adds to 10000
// counters
//        job_stores ADDRESS fill JOBS NODES                as many nodes, spread over the jobs
// Prints CPU seconds of this process, the seconds that passed, and the most memory that it had, in
// bytes.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/dice.h"
#include "base/result.h"
#include "fleet/redis/redis_link.h"
#include "fleet/stores/open_store.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kCounters = 10'000;
constexpr std::size_t kBatch = 5'000;
constexpr const char* kExec = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30";

// As long as those of C++ are.
std::string node_name(std::size_t number) {
  return "std::vector<int, std::allocator<int> >::function_" + std::to_string(number) + "(int)";
}

std::vector<ProfileRow> counters() {
  std::vector<ProfileRow> rows;
  for (std::size_t number = 0; number < kCounters; ++number)
    rows.push_back({node_name(number / 2), kExec, number % 2 == 0 ? "cycles:u" : "cache-misses:u",
                    static_cast<std::int64_t>(number)});
  return rows;
}

// The same ones come again and again: making one costs as much as adding it.
std::vector<ProfileBatch> batches() {
  constexpr std::size_t kBatches = 16;
  const std::vector<ProfileRow> all = counters();
  Dice dice(1);
  std::vector<ProfileBatch> made(kBatches);
  for (ProfileBatch& batch : made) {
    batch.id.client = "bench";
    for (std::size_t row = 0; row < kBatch; ++row)
      batch.rows.push_back(all[dice.below(all.size())]);
  }
  return made;
}

Status add_batches(const std::string& address, std::size_t updates) {
  FATHOM_ASSIGN(const std::unique_ptr<JobStore> store, open_store(address));
  FATHOM_TRY(store->create({"bench", "", 0}));
  std::vector<ProfileBatch> all = batches();
  for (std::size_t turn = 0; turn * kBatch < updates; ++turn) {
    ProfileBatch& batch = all[turn % all.size()];
    batch.id.seq = static_cast<std::int64_t>(turn);
    FATHOM_TRY(store->add_profile("bench", batch));
  }
  return {};
}

// profiling-framework's: read, add, write back, a round trip each; and it counts wrong with two.
Status read_modify_write(RedisLink& link, std::size_t updates) {
  const std::vector<ProfileRow> all = counters();
  Dice dice(1);
  for (std::size_t done = 0; done < updates; ++done) {
    const ProfileRow& row = all[dice.below(all.size())];
    FATHOM_ASSIGN(const RedisAnswers got,
                  link.ask(RedisRequest().add({"HGET", row.node, row.event})));
    const std::string sum =
        std::to_string(std::strtoll(got.front().text.c_str(), nullptr, 10) + row.count);
    FATHOM_TRY(link.ask(RedisRequest().add({"HSET", row.node, row.event, sum})));
  }
  return {};
}

Status pipelined(RedisLink& link, std::size_t updates) {
  const std::vector<ProfileRow> all = counters();
  Dice dice(1);
  for (std::size_t done = 0; done < updates; done += kBatch) {
    RedisRequest request;
    for (std::size_t turn = 0; turn < kBatch; ++turn) {
      const ProfileRow& row = all[dice.below(all.size())];
      request.add({"HINCRBY", row.node, row.event, std::to_string(row.count)});
    }
    FATHOM_TRY(link.ask(request));
  }
  return {};
}

Status fill(const std::string& address, std::size_t jobs, std::size_t nodes) {
  FATHOM_ASSIGN(const std::unique_ptr<JobStore> store, open_store(address));
  for (std::size_t job = 0; job < jobs; ++job) {
    const std::string name = "job-" + std::to_string(job);
    FATHOM_TRY(store->create({name, "", 0}));
    ProfileBatch batch{{"bench", 0}, {}};
    for (std::size_t node = job; node < nodes; node += jobs)
      batch.rows.push_back({node_name(node), kExec, "cycles:u", 1});
    FATHOM_TRY(store->add_profile(name, batch));
  }
  return {};
}

Status run(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t at) {
    return std::strtoull(words.at(at).c_str(), nullptr, 10);
  };
  const std::string& what = words.at(1);
  if (what == "batches") return add_batches(words[0], number(2));
  if (what == "fill") return fill(words[0], number(2), number(3));
  FATHOM_ASSIGN(const RedisTarget target, parse_redis_url(words[0]));
  FATHOM_ASSIGN(const std::unique_ptr<RedisLink> link, RedisLink::connect(target));
  return what == "rmw" ? read_modify_write(*link, number(2)) : pipelined(*link, number(2));
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace
}  // namespace fathom::fleet

int main(int count, char** words) {
  const auto start = std::chrono::steady_clock::now();
  const fathom::Status done =
      fathom::fleet::run(std::vector<std::string>(words + 1, words + count));
  if (!done) {
    fmt::print(stderr, "job_stores: {}\n", done.error().message);
    return 3;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  fmt::print("{:.4f} {:.4f} {}\n",
             fathom::fleet::seconds(usage.ru_utime) + fathom::fleet::seconds(usage.ru_stime),
             passed.count(), 1024 * usage.ru_maxrss);
  return 0;
}
