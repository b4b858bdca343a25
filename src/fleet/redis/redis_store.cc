// SPDX-License-Identifier: MIT
// The list of all jobs and a job's own keys may lie on different nodes, so no script changes both.
// A job counts as there when its own hash is: it is made before it is listed, and unlisted after it
// is gone. A token tells one from a later one of the same name, so that whoever comes late with the
// second step does no harm; what is listed without being there is left out and unlisted.
#include "fleet/redis/redis_store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "fleet/checks.h"
#include "fleet/redis/redis_batch.h"
#include "fleet/redis/redis_errors.h"
#include "fleet/redis/redis_keys.h"
#include "fleet/redis/redis_nodes.h"
#include "fleet/redis/redis_scripts.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kPage = 512;  // nodes or records that are read in one go
using Type = RespValue::Type;

Result<std::string> new_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error{Code::kIo, "no random numbers", ""};
  return to_hex(bytes);
}

// Of several answers the first that is an error.
Status check_answers(const RedisAnswers& answers) {
  for (const RespValue& answer : answers)
    if (answer.is_error()) return redis_error(answer.text);
  return {};
}

Error not_ours(const std::string& key) {
  return {Code::kCorrupt,
          "Redis: " + escape_control(key.substr(0, 80)) + " is not what Fathom wrote", ""};
}

// How a batch is named in Redis.
// Digits that sort as numbers do, and the numbers beside this one: ranges that touch are joined by
// the script, which has no arithmetic of 64 bits (Lua's numbers are doubles).
struct Number {
  Number(std::string_view kind, const BatchId& id)
      : sender(std::string(kind) + ":" + id.client),
        seq(digits_of(id.seq)),
        before(id.seq > 0 ? digits_of(id.seq - 1) : ""),
        after(id.seq < INT64_MAX ? digits_of(id.seq + 1) : "") {}
  std::string sender, seq, before, after;
};

class RedisStore final : public JobStore {
 public:
  RedisStore(const RedisTarget& target, const RedisOptions& options)
      : nodes_(target, options.may_forget), words_in_part_(options.words_in_part) {}

  // Whether somebody is there who may be used.
  // A question that every Redis answers and that changes nothing: a wrong password or database
  // shows before the first batch.
  Status greet() {
    FATHOM_ASSIGN(const RedisNodes::Reply reply,
                  nodes_.ask(kRedisJobs, RedisRequest().add({"HLEN", kRedisJobs})));
    return check_answers(reply.answers);
  }

  Result<std::vector<Job>> jobs() override;
  Result<Job> job(const std::string& name) override;
  Status create(const Job& job) override;
  Status remove(const std::string& job) override;
  Status add_profile(const std::string& job, const ProfileBatch& batch) override;
  Status add_records(const std::string& job, const std::string& kind,
                     const RecordBatch& batch) override;
  Status profile(const std::string& job, const TakesRow& take) override;
  Status records(const std::string& job, const std::string& kind, std::int64_t from,
                 const TakesRecord& take) override;
  Status clear_profile(const std::string& job) override;
  Status clear_records(const std::string& job, const std::string& kind) override;
  Result<std::vector<RecordKind>> kinds() override;
  Status add_kind(const RecordKind& kind) override;
  Status sent(const std::string& job, const TakesSent& take) override;
  Status set_sent(const std::string& job, const std::vector<SentRange>& ranges) override;

 private:
  struct Ran {
    RespValue value;
    bool was_repeated = false;
  };
  Result<Ran> run(const RedisScript& script, const std::vector<std::string_view>& keys,
                  const std::vector<std::string_view>& words);
  Result<RespValue> ask(std::string_view key, const std::vector<std::string_view>& words);
  Status run_for_job(const std::string& job, const RedisScript& script,
                     const std::vector<std::string_view>& keys,
                     const std::vector<std::string_view>& words);
  Status check_kind_exists(const std::string& kind);
  Status check_job_exists(const RedisKeys& keys, const std::string& job);
  Status list(const std::string& job, const std::string& token);
  Status unlist(const std::string& job, const std::string& token);
  struct Addition;
  Result<std::string> add_parts(const Addition& addition, const std::vector<RedisPart>& parts);
  Result<bool> take_nodes(const RedisKeys& keys, const std::vector<RespValue>& page,
                          const TakesRow& take);
  Status benchmarks(const RedisKeys& keys, const std::string& job, std::int64_t from,
                    const TakesRecord& take);
  Status other_records(const RedisKeys& keys, const std::string& kind, std::int64_t from,
                       const TakesRecord& take);
  Result<bool> take_sent(const RedisKeys& keys, const std::string& sender, const TakesSent& take);

  RedisNodes nodes_;
  RedisScripts scripts_;
  std::size_t words_in_part_;
};

// One command, one answer; an error of Redis is ours.
Result<RespValue> RedisStore::ask(std::string_view key,
                                  const std::vector<std::string_view>& words) {
  FATHOM_ASSIGN(RedisNodes::Reply reply, nodes_.ask(key, RedisRequest().add(words)));
  FATHOM_TRY(check_answers(reply.answers));
  return std::move(reply.answers.front());
}

// Redis knows scripts by their SHA-1 until it is restarted.
Result<RedisStore::Ran> RedisStore::run(const RedisScript& script,
                                        const std::vector<std::string_view>& keys,
                                        const std::vector<std::string_view>& words) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> command = {"EVALSHA", script.sha1, count};
  command.insert(command.end(), keys.begin(), keys.end());
  command.insert(command.end(), words.begin(), words.end());
  FATHOM_ASSIGN(RedisNodes::Reply reply, nodes_.ask(keys.front(), RedisRequest().add(command)));
  bool was_repeated = reply.was_repeated;
  if (reply.answers.front().is_error() && reply.answers.front().text.starts_with("NOSCRIPT")) {
    command[0] = "EVAL";
    command[1] = script.text;
    FATHOM_ASSIGN(reply, nodes_.ask(keys.front(), RedisRequest().add(command)));
    was_repeated = was_repeated || reply.was_repeated;
  }
  FATHOM_TRY(check_answers(reply.answers));
  return Ran{std::move(reply.answers.front()), was_repeated};
}

Status RedisStore::run_for_job(const std::string& job, const RedisScript& script,
                               const std::vector<std::string_view>& keys,
                               const std::vector<std::string_view>& words) {
  FATHOM_ASSIGN(const Ran ran, run(script, keys, words));
  if (ran.value.text == "nojob") return no_such_job(job);
  return {};
}

Status RedisStore::list(const std::string& job, const std::string& token) {
  FATHOM_TRY(ask(kRedisJobs, {"HSET", kRedisJobs, job, token}));
  return {};
}

Status RedisStore::unlist(const std::string& job, const std::string& token) {
  FATHOM_TRY(run(scripts_.unlist, {kRedisJobs}, {job, token}));
  return {};
}

// One that is there already is listed once more: whoever made it may have died in between.
Status RedisStore::create(const Job& job) {
  FATHOM_TRY(check_job_name(job.name));
  const RedisKeys keys(job.name);
  FATHOM_ASSIGN(const std::string token, new_token());
  FATHOM_ASSIGN(const Ran ran, run(scripts_.create, {keys.job, keys.token}, {job.info, token}));
  if (ran.value.items.size() != 2) return not_ours(keys.job);
  FATHOM_TRY(list(job.name, ran.value.items[1].text));
  if (ran.value.items[0].text != "ok") return job_exists(job.name);
  return {};
}

Status RedisStore::remove(const std::string& job) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_ASSIGN(
      const Ran ran,
      run(scripts_.remove, {keys.job, keys.token, keys.nodes, keys.senders, keys.kinds, keys.bound},
          {keys.prefix}));
  if (ran.value.type == Type::kNull && !ran.was_repeated) return no_such_job(job);
  return unlist(job, ran.value.text);
}

Result<std::vector<Job>> RedisStore::jobs() {
  FATHOM_ASSIGN(const RespValue listed, ask(kRedisJobs, {"HGETALL", kRedisJobs}));
  std::vector<RedisNodes::Question> questions;
  for (std::size_t at = 0; at + 1 < listed.items.size(); at += 2) {
    const RedisKeys keys(listed.items[at].text);
    questions.push_back({keys.job, RedisRequest().add({"HMGET", keys.job, "info", "benchmark"})});
  }
  FATHOM_ASSIGN(const std::vector<RedisAnswers> answers, nodes_.ask_all(questions));
  std::vector<Job> jobs;
  for (std::size_t at = 0; at < answers.size(); ++at) {
    FATHOM_TRY(check_answers(answers[at]));
    const std::string& name = listed.items[2 * at].text;
    const std::vector<RespValue>& fields = answers[at].front().items;
    if (fields.size() != 2) return not_ours(questions[at].key);
    if (fields[1].type == Type::kNull) {
      FATHOM_TRY(unlist(name, listed.items[2 * at + 1].text));
      continue;
    }
    FATHOM_ASSIGN(const std::int64_t benchmarks, parse_int(fields[1].text));
    jobs.push_back({name, fields[0].text, benchmarks});
  }
  std::ranges::sort(jobs, {}, &Job::name);
  return jobs;
}

Result<Job> RedisStore::job(const std::string& name) {
  if (!is_job_name(name)) return no_such_job(name);
  const RedisKeys keys(name);
  FATHOM_ASSIGN(const RespValue fields, ask(keys.job, {"HMGET", keys.job, "info", "benchmark"}));
  if (fields.items.size() != 2) return not_ours(keys.job);
  if (fields.items[1].type == Type::kNull) return no_such_job(name);
  FATHOM_ASSIGN(const std::int64_t benchmarks, parse_int(fields.items[1].text));
  return Job{name, fields.items[0].text, benchmarks};
}

Status RedisStore::check_job_exists(const RedisKeys& keys, const std::string& job) {
  FATHOM_ASSIGN(const RespValue there, ask(keys.job, {"EXISTS", keys.job}));
  if (there.number == 0) return no_such_job(job);
  return {};
}

// What the script add_profile is given, for one part of a batch.
// The script is given the phases that it shall do: "b" begins (is the batch known?), "c" checks
// that no sum overflows, "a" adds, "e" ends and notes the number. A small batch does all in one
// call.
struct RedisStore::Addition {
  Addition(const RedisKeys& names, const ProfileBatch& batch)
      : keys(&names),
        number("", batch.id),
        sent(names.sent(number.sender)),
        total(total_of(batch)) {}

  [[nodiscard]] std::vector<std::string_view> keys_of(const RedisPart& part) const {
    std::vector<std::string_view> all = {keys->job,   sent,          keys->senders,
                                         keys->nodes, keys->verdict, keys->bound};
    all.insert(all.end(), part.keys.begin(), part.keys.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string_view> words_of(const RedisPart& part,
                                                       std::string_view phases) const {
    std::vector<std::string_view> all = {phases,        number.sender, number.seq,
                                         number.before, number.after,  total};
    all.insert(all.end(), part.words.begin(), part.words.end());
    return all;
  }

  const RedisKeys* keys;
  Number number;
  std::string sent, total;
};

// A script may take some thousand words, so a large batch is several calls in one transaction
// (MULTI): all parts are checked before the first is added, and what the first found out is kept in
// the key `verdict` for the others. By EVAL, since a script that Redis has forgotten would fail in
// the midst of the transaction.
Result<std::string> RedisStore::add_parts(const Addition& addition,
                                          const std::vector<RedisPart>& parts) {
  RedisRequest request;
  request.add({"MULTI"});
  const auto add = [&](const RedisPart& part, std::string_view phases) {
    const std::vector<std::string_view> keys = addition.keys_of(part);
    const std::vector<std::string_view> words = addition.words_of(part, phases);
    const std::string count = std::to_string(keys.size());
    std::vector<std::string_view> command = {"EVAL", scripts_.add_profile.text, count};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), words.begin(), words.end());
    request.add(command);
  };
  for (const RedisPart& part : parts) add(part, &part == &parts.front() ? "bc" : "c");
  for (const RedisPart& part : parts) add(part, &part == &parts.back() ? "ae" : "a");
  request.add({"EXEC"});
  FATHOM_ASSIGN(const RedisNodes::Reply reply, nodes_.ask(addition.keys->job, request));
  FATHOM_TRY(check_answers(reply.answers));
  const std::vector<RespValue>& verdicts = reply.answers.back().items;
  FATHOM_TRY(check_answers(verdicts));
  if (verdicts.empty()) return not_ours(addition.keys->verdict);
  return verdicts.back().text;
}

Status RedisStore::add_profile(const std::string& job, const ProfileBatch& batch) {
  FATHOM_TRY(check_batch(batch));
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  const Addition addition(keys, batch);
  FATHOM_ASSIGN(const std::vector<RedisPart> parts, parts_of(batch, keys, words_in_part_));
  std::string verdict;
  if (parts.size() > 1) {
    FATHOM_ASSIGN(verdict, add_parts(addition, parts));
  } else {
    FATHOM_ASSIGN(Ran ran, run(scripts_.add_profile, addition.keys_of(parts[0]),
                               addition.words_of(parts[0], "bcae")));
    verdict = std::move(ran.value.text);
  }
  if (verdict == "nojob") return no_such_job(job);
  if (verdict == "big")
    return Error{Code::kInvalid, "a sum would be more than 9223372036854775807", ""};
  return {};
}

Status RedisStore::check_kind_exists(const std::string& kind) {
  if (kind == kBenchmarks) return {};
  FATHOM_ASSIGN(const RespValue there, ask(kRedisKinds, {"HEXISTS", kRedisKinds, kind}));
  if (there.number == 0) return no_such_kind(kind);
  return {};
}

Status RedisStore::add_records(const std::string& job, const std::string& kind,
                               const RecordBatch& batch) {
  FATHOM_TRY(check_batch(batch));
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_TRY(check_job_exists(keys, job));
  FATHOM_TRY(check_kind_exists(kind));
  const Number number(kind, batch.id);
  const std::string sent = keys.sent(number.sender);
  const std::string list = keys.records(kind);
  std::vector<std::string_view> words = {kind, number.sender, number.seq, number.before,
                                         number.after};
  words.insert(words.end(), batch.records.begin(), batch.records.end());
  return run_for_job(job, scripts_.add_records, {keys.job, sent, keys.senders, keys.kinds, list},
                     words);
}

// The events of some nodes, sorted. False: enough.
Result<bool> RedisStore::take_nodes(const RedisKeys& keys, const std::vector<RespValue>& page,
                                    const TakesRow& take) {
  RedisRequest request;
  std::vector<ProfileRow> nodes(page.size());
  for (std::size_t at = 0; at < page.size(); ++at) {
    if (!read_index(page[at].text, nodes[at].node, nodes[at].exec)) return not_ours(keys.nodes);
    request.add({"HGETALL", keys.node(nodes[at].node, nodes[at].exec)});
  }
  FATHOM_ASSIGN(const RedisNodes::Reply reply, nodes_.ask(keys.job, request));
  FATHOM_TRY(check_answers(reply.answers));
  std::vector<ProfileRow> rows;
  for (std::size_t at = 0; at < page.size(); ++at) {
    rows.clear();
    const std::vector<RespValue>& fields = reply.answers[at].items;
    for (std::size_t field = 0; field + 1 < fields.size(); field += 2) {
      if (fields[field].text == kExecField) continue;
      FATHOM_ASSIGN(const std::int64_t count, parse_int(fields[field + 1].text));
      rows.push_back({nodes[at].node, nodes[at].exec, fields[field].text, count});
    }
    std::ranges::sort(rows, {}, &ProfileRow::event);
    for (const ProfileRow& row : rows)
      if (!take(row)) return false;
  }
  return true;
}

// By pages, from the name behind the last one: SCAN would give no order, and one answer for all of
// a large job would hold up Redis, which does one thing at a time.
Status RedisStore::profile(const std::string& job, const TakesRow& take) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_TRY(check_job_exists(keys, job));
  const std::string count = std::to_string(kPage);
  std::string from = "-";
  for (;;) {
    FATHOM_ASSIGN(const RespValue page,
                  ask(keys.nodes, {"ZRANGEBYLEX", keys.nodes, from, "+", "LIMIT", "0", count}));
    if (page.items.empty()) return {};
    FATHOM_ASSIGN(const bool goes_on, take_nodes(keys, page.items, take));
    if (!goes_on) return {};
    from = "(" + page.items.back().text;
  }
}

Status RedisStore::benchmarks(const RedisKeys& keys, const std::string& job, std::int64_t from,
                              const TakesRecord& take) {
  FATHOM_ASSIGN(const Job facts, this->job(job));
  while (from < facts.benchmarks) {
    const std::int64_t end = std::min(facts.benchmarks, from + std::int64_t{kPage});
    std::vector<std::string> numbers;
    for (std::int64_t number = from; number < end; ++number)
      numbers.push_back(std::to_string(number));
    std::vector<std::string_view> words = {"HMGET", keys.job};
    words.insert(words.end(), numbers.begin(), numbers.end());
    FATHOM_ASSIGN(const RespValue page, ask(keys.job, words));
    for (const RespValue& record : page.items) {
      if (record.type == Type::kNull) return {};  // cleared in between
      if (!take(from++, record.text)) return {};
    }
  }
  return {};
}

// A list that is cleared in between is shorter: the page is empty then, and this ends.
Status RedisStore::other_records(const RedisKeys& keys, const std::string& kind, std::int64_t from,
                                 const TakesRecord& take) {
  const std::string list = keys.records(kind);
  for (;;) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(from + static_cast<std::int64_t>(kPage) - 1);
    FATHOM_ASSIGN(const RespValue page, ask(list, {"LRANGE", list, first, last}));
    if (page.items.empty()) return {};
    for (const RespValue& record : page.items)
      if (!take(from++, record.text)) return {};
  }
}

Status RedisStore::records(const std::string& job, const std::string& kind, std::int64_t from,
                           const TakesRecord& take) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_TRY(check_job_exists(keys, job));
  FATHOM_TRY(check_kind_exists(kind));
  from = std::max<std::int64_t>(from, 0);
  return kind == kBenchmarks ? benchmarks(keys, job, from, take)
                             : other_records(keys, kind, from, take);
}

Status RedisStore::clear_profile(const std::string& job) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  return run_for_job(job, scripts_.clear_profile, {keys.job, keys.nodes, keys.bound},
                     {keys.prefix});
}

Status RedisStore::clear_records(const std::string& job, const std::string& kind) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_TRY(check_job_exists(keys, job));
  FATHOM_TRY(check_kind_exists(kind));
  const std::string list = keys.records(kind);
  return run_for_job(job, scripts_.clear_records, {keys.job, list, keys.kinds}, {kind});
}

Result<std::vector<RecordKind>> RedisStore::kinds() {
  FATHOM_ASSIGN(const RespValue all, ask(kRedisKinds, {"HGETALL", kRedisKinds}));
  std::vector<RecordKind> kinds;
  for (std::size_t at = 0; at + 1 < all.items.size(); at += 2)
    kinds.push_back({all.items[at].text, all.items[at + 1].text});
  std::ranges::sort(kinds, {}, &RecordKind::name);
  return kinds;
}

Status RedisStore::add_kind(const RecordKind& kind) {
  FATHOM_TRY(check_kind(kind));
  FATHOM_ASSIGN(const Ran ran, run(scripts_.add_kind, {kRedisKinds}, {kind.name, kind.schema}));
  if (ran.value.text == "differs") return kind_differs(kind.name);
  return {};
}

// The ranges of one client, in order. False: enough.
Result<bool> RedisStore::take_sent(const RedisKeys& keys, const std::string& sender,
                                   const TakesSent& take) {
  const std::string key = keys.sent(sender);
  const std::size_t colon = sender.find(':');
  FATHOM_ASSIGN(const RespValue ranges, ask(key, {"ZRANGE", key, "0", "-1"}));
  for (const RespValue& range : ranges.items) {
    const std::vector<std::string_view> ends = split(range.text, ':');
    if (ends.size() != 2 || colon == std::string::npos) return not_ours(key);
    FATHOM_ASSIGN(const std::int64_t last, parse_int(ends[0]));
    FATHOM_ASSIGN(const std::int64_t first, parse_int(ends[1]));
    if (!take({sender.substr(0, colon), sender.substr(colon + 1), first, last})) return false;
  }
  return true;
}

Status RedisStore::sent(const std::string& job, const TakesSent& take) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  FATHOM_TRY(check_job_exists(keys, job));
  FATHOM_ASSIGN(const RespValue members, ask(keys.senders, {"SMEMBERS", keys.senders}));
  std::vector<std::string> senders;
  for (const RespValue& member : members.items) senders.push_back(member.text);
  std::ranges::sort(senders, {}, [](const std::string& sender) {
    const std::size_t colon = std::min(sender.find(':'), sender.size() - 1);
    return std::pair(sender.substr(0, colon), sender.substr(colon + 1));
  });
  for (const std::string& sender : senders) {
    FATHOM_ASSIGN(const bool goes_on, take_sent(keys, sender, take));
    if (!goes_on) return {};
  }
  return {};
}

Status RedisStore::set_sent(const std::string& job, const std::vector<SentRange>& ranges) {
  if (!is_job_name(job)) return no_such_job(job);
  const RedisKeys keys(job);
  std::vector<std::string> texts;
  for (const SentRange& range : ranges) {
    FATHOM_TRY(check_range(range));
    texts.push_back(range.kind + ":" + range.client);
    texts.push_back(digits_of(range.last) + ":" + digits_of(range.first));
  }
  std::vector<std::string_view> words = {keys.prefix};
  words.insert(words.end(), texts.begin(), texts.end());
  return run_for_job(job, scripts_.set_sent, {keys.job, keys.senders}, words);
}

}  // namespace

Result<std::unique_ptr<JobStore>> open_redis_store(const RedisTarget& target,
                                                   const RedisOptions& options) {
  auto store = std::make_unique<RedisStore>(target, options);
  FATHOM_TRY(store->greet());
  return std::unique_ptr<JobStore>(std::move(store));
}

}  // namespace fathom::fleet
