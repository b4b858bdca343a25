// SPDX-License-Identifier: MIT
// Reads by SCAN and HGETALL in pipelined pieces, and writes batches into the new store. What cannot
// be read is left out with a sentence each; the import goes on.
#include "fleet/redis/old_redis.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/ids.h"
#include "base/plural.h"
#include "base/text.h"
#include "fleet/profile_sums.h"
#include "fleet/redis/old_layout.h"
#include "fleet/redis/redis_link.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kKeys = 500;  // that are asked for together
constexpr std::size_t kRows = 20'000;
constexpr std::size_t kRecords = 1000;
constexpr std::uint16_t kMainPort = 2000;
constexpr char kExecName[] = "execname";

// "main+0x2a8" is a place in main.
std::string_view without_offset(std::string_view node) {
  const std::size_t plus = node.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0) return node;
  const std::string_view digits = node.substr(plus + 3);
  const bool hex = !digits.empty() && digits.find_first_not_of("0123456789abcdef") == digits.npos;
  return hex ? node.substr(0, plus) : node;
}

using Fields = std::map<std::string, std::string>;

Error unexpected(const RedisTarget& target) {
  return {Code::kCorrupt, "the Redis at " + shown(target.address) + " sends invalid answers", ""};
}

// Nothing where it is no hash.
std::optional<Fields> fields_of(const RespValue& answer) {
  if (answer.type != RespValue::Type::kArray || answer.items.size() % 2 != 0) return {};
  Fields fields;
  for (std::size_t i = 0; i < answer.items.size(); i += 2)
    fields[answer.items[i].text] = answer.items[i + 1].text;
  return fields;
}

using TakesHash =
    std::function<Status(const std::string& key, const std::optional<Fields>& fields)>;

// All hashes of a database. SCAN may name a key twice: the caller is asked for it once.
class Hashes {
 public:
  Hashes(RedisLink& link, const RedisTarget& target) : link_(link), target_(target) {}

  Status each(const TakesHash& take) {
    FATHOM_TRY(find_keys());
    std::vector<std::string> part;
    for (const std::string& key : keys_) {
      part.push_back(key);
      if (part.size() == kKeys) FATHOM_TRY(read(part, take));
    }
    return read(part, take);
  }

 private:
  // SCAN and not KEYS: the latter holds up a Redis that others use for as long as it takes.
  Status find_keys() {
    std::string cursor = "0";
    do {
      FATHOM_ASSIGN(const RedisAnswers answers,
                    link_.ask(RedisRequest().add({"SCAN", cursor, "COUNT", "1000"})));
      const bool whole = answers.size() == 1 && answers[0].items.size() == 2;
      if (!whole) return unexpected(target_);
      cursor = answers[0].items[0].text;
      for (const RespValue& key : answers[0].items[1].items) keys_.insert(key.text);
    } while (cursor != "0");
    return {};
  }

  Status read(std::vector<std::string>& part, const TakesHash& take) {
    RedisRequest request;
    for (const std::string& key : part) request.add({"HGETALL", key});
    if (part.empty()) return {};
    FATHOM_ASSIGN(const RedisAnswers answers, link_.ask(request));
    if (answers.size() != part.size()) return unexpected(target_);
    for (std::size_t i = 0; i < part.size(); ++i) FATHOM_TRY(take(part[i], fields_of(answers[i])));
    part.clear();
    return {};
  }

  RedisLink& link_;
  const RedisTarget& target_;
  std::set<std::string> keys_;
};

class Import {
 public:
  Import(RedisTarget main, JobStore& store) : main_(std::move(main)), store_(store) {}

  Result<OldImport> run() {
    FATHOM_ASSIGN(const std::unique_ptr<RedisLink> link, RedisLink::connect(main_));
    std::map<std::string, Fields> jobs;
    FATHOM_TRY(
        Hashes(*link, main_)
            .each([&](const std::string& key, const std::optional<Fields>& fields) -> Status {
              if (fields && fields->contains("info") && is_job_name(key)) {
                jobs.emplace(key, *fields);
              } else {
                tell("key " + escape_control(key) + " is not a job of profiling-framework");
              }
              return {};
            }));
    for (const auto& [name, fields] : jobs) FATHOM_TRY(take_job(name, fields));
    return std::move(import_);
  }

 private:
  void tell(std::string sentence) { import_.trouble.push_back(std::move(sentence)); }

  Status take_job(const std::string& name, const Fields& fields) {
    const Status made = store_.create({.name = name, .info = fields.at("info"), .benchmarks = 0});
    if (!made && made.error().code == Code::kExists) {
      tell("job " + name + " is here already and was left as it is");
      return {};
    }
    FATHOM_TRY(made);
    ++import_.jobs;
    FATHOM_TRY(take_benchmarks(name, fields));
    return take_profile(name);
  }

  Status take_benchmarks(const std::string& name, const Fields& fields) {
    RecordBatch batch{.id = {.client = random_id(), .seq = 0}, .records = {}};
    const auto send = [&]() -> Status {
      ++batch.id.seq;
      FATHOM_TRY(store_.add_records(name, std::string(kBenchmarks), batch));
      import_.records += static_cast<std::int64_t>(batch.records.size());
      batch.records.clear();
      return {};
    };
    for (std::int64_t number = 0; fields.contains(std::to_string(number)); ++number) {
      Result<std::string> record = record_of_old(fields.at(std::to_string(number)));
      if (!record) {
        tell("benchmark " + std::to_string(number) + " of job " + name +
             " was left out: " + record.error().message);
        continue;
      }
      batch.records.push_back(std::move(*record));
      if (batch.records.size() == kRecords) FATHOM_TRY(send());
    }
    return batch.records.empty() ? Status() : send();
  }

  // profiling-framework keeps each job's profile in a Redis of its own, whose port is the job's
  // name.
  Status take_profile(const std::string& name) {
    RedisTarget target = main_;
    const Result<std::int64_t> port = parse_int(name);
    if (!port || *port < 1 || *port > 65535) return {};
    target.address.port = static_cast<std::uint16_t>(*port);
    Result<std::unique_ptr<RedisLink>> link = RedisLink::connect(target);
    if (!link) {
      tell("the profile of job " + name + " was left out: " + link.error().message);
      return {};
    }
    return take_nodes(name, **link, target);
  }

  Status take_nodes(const std::string& name, RedisLink& link, const RedisTarget& target) {
    ProfileSums sums;
    BatchId id{.client = random_id(), .seq = 0};
    std::int64_t damaged = 0;
    const auto send = [&]() -> Status {
      if (sums.empty()) return {};
      ++id.seq;
      import_.rows += static_cast<std::int64_t>(sums.rows());
      return store_.add_profile(name, {.id = id, .rows = sums.take()});
    };
    FATHOM_TRY(
        Hashes(link, target)
            .each([&](const std::string& node, const std::optional<Fields>& fields) -> Status {
              if (!fields || !add_node(node, *fields, sums)) ++damaged;
              return sums.rows() < kRows ? Status() : send();
            }));
    if (damaged > 0)
      tell(counted(damaged, "key") + " of job " + name + " left out: no node with whole sums");
    return send();
  }

  // False, and nothing is added: it is no node. Names come from the columns of `perf script`: with
  // an offset, a colon, or brackets.
  static bool add_node(const std::string& key, const Fields& fields, ProfileSums& sums) {
    if (!fields.contains(kExecName)) return false;
    const std::string node(without_offset(key));
    std::string exec = fields.at(kExecName);
    if (exec.starts_with('(') && exec.ends_with(')')) exec = exec.substr(1, exec.size() - 2);
    for (const auto& [field, value] : fields) {
      if (field == kExecName) continue;
      const Result<std::int64_t> count = parse_int(value);
      std::string event = field;
      if (event.ends_with(':')) event.pop_back();
      if (!count || *count < 0 || !sums.add({node, exec, event, *count})) return false;
    }
    return true;
  }

  RedisTarget main_;
  JobStore& store_;
  OldImport import_;
};

}  // namespace

Result<OldImport> import_old_redis(const std::string& address, JobStore& store) {
  const bool is_url = address.find("://") != std::string::npos;
  const std::string with_port =
      address.find(':') == std::string::npos ? address + ":" + std::to_string(kMainPort) : address;
  FATHOM_ASSIGN(RedisTarget main,
                parse_redis_url(is_url ? address : "redis://" + with_port + "/0"));
  return Import(std::move(main), store).run();
}

}  // namespace fathom::fleet
