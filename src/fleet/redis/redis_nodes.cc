// SPDX-License-Identifier: MIT
// Follows MOVED, ASK and TRYAGAIN, and asks again where an old connection broke. The mutex is held
// only around maps, never while a node is asked.
#include "fleet/redis/redis_nodes.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/text.h"
#include "fleet/redis/redis_durability.h"
#include "fleet/redis/redis_errors.h"

namespace fathom::fleet {
namespace {

constexpr int kAttempts = 12;
constexpr std::size_t kIdle = 16;  // connections that are kept for a node

// CRC-16/XMODEM, which Redis Cluster is built on.
std::uint16_t crc16(std::string_view bytes) {
  constexpr std::uint16_t kPolynomial = 0x1021;
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(byte) << 8U));
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_high = (crc & 0x8000U) != 0;
      crc = static_cast<std::uint16_t>(crc << 1U);
      if (is_high) crc = static_cast<std::uint16_t>(crc ^ kPolynomial);
    }
  }
  return crc;
}

// "MOVED 3999 10.0.0.2:6381"; without a host it is the one that was asked.
bool read_redirection(std::string_view text, const RedisAddress& from, RedisAddress& to) {
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() < 3) return false;
  const std::size_t colon = words[2].rfind(':');
  if (colon == std::string_view::npos) return false;
  const Result<std::int64_t> port = parse_int(words[2].substr(colon + 1));
  if (!port || *port < 1 || *port > UINT16_MAX) return false;
  const std::string host(words[2].substr(0, colon));
  if (host == "?") return false;
  to = {host.empty() ? from.host : host, static_cast<std::uint16_t>(*port), ""};
  return !to.host.empty();
}

// The first answer that sends us elsewhere.
const RespValue* redirection_in(const RedisAnswers& answers) {
  for (const RespValue& answer : answers)
    if (answer.is_error() && (answer.text.starts_with("MOVED ") || answer.text.starts_with("ASK ")))
      return &answer;
  return nullptr;
}

const RespValue* try_again_in(const RedisAnswers& answers) {
  for (const RespValue& answer : answers)
    if (answer.is_error() && answer.text.starts_with("TRYAGAIN ")) return &answer;
  return nullptr;
}

}  // namespace

std::uint16_t redis_slot(std::string_view key) {
  constexpr std::uint16_t kSlots = 16384;
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % kSlots;
}

// Where a slot is not known, the node that the user named: it redirects, and then it is known.
RedisAddress RedisNodes::address_of(std::uint16_t slot) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(slot);
  return found == slots_.end() ? target_.address : found->second;
}

// A connection that is made anew is checked, since it may lead to another Redis than the one
// before: one that forgets what it is told would lose a batch that it acknowledged.
Result<RedisNodes::Borrowed> RedisNodes::borrow(const RedisAddress& address) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<RedisLink>>& idle = idle_[address];
    if (!idle.empty()) {
      Borrowed borrowed{std::move(idle.back()), address, false};
      idle.pop_back();
      return borrowed;
    }
  }
  RedisTarget target = target_;
  target.address = address;
  FATHOM_ASSIGN(std::unique_ptr<RedisLink> link, RedisLink::connect(target));
  FATHOM_ASSIGN(const RedisNature nature, check_redis(*link, may_forget_));
  if (nature.is_cluster) learn_nodes(*link, address);
  return Borrowed{std::move(link), address, true};
}

void RedisNodes::put_back(Borrowed borrowed) {
  const std::lock_guard lock(mutex_);
  std::vector<std::unique_ptr<RedisLink>>& idle = idle_[borrowed.address];
  if (idle.size() < kIdle) idle.push_back(std::move(borrowed.link));
}

// When one broke, Redis was restarted, and all others are broken too.
void RedisNodes::drop_idle(const RedisAddress& address) {
  const std::lock_guard lock(mutex_);
  idle_.erase(address);
}

// CLUSTER SLOTS: for each range first, last, then [host, port, …] of its master and its replicas.
void RedisNodes::learn_nodes(RedisLink& link, const RedisAddress& from) {
  const Result<RedisAnswers> answers = link.ask(RedisRequest().add({"CLUSTER", "SLOTS"}));
  const std::lock_guard lock(mutex_);
  is_cluster_ = true;
  if (!from.host.empty()) known_.insert(from);
  if (!answers || answers->front().is_error()) return;
  for (const RespValue& range : answers->front().items) {
    if (range.items.size() < 3) continue;
    for (std::size_t at = 2; at < range.items.size(); ++at) {
      const std::vector<RespValue>& node = range.items[at].items;
      if (node.size() < 2 || node[1].number < 1 || node[1].number > UINT16_MAX) continue;
      const std::string& host = node[0].text.empty() ? from.host : node[0].text;
      if (!host.empty()) known_.insert({host, static_cast<std::uint16_t>(node[1].number), ""});
    }
  }
}

// Which node has the slot is forgotten: any other of the cluster may know who took over from the
// one that does not answer.
bool RedisNodes::go_elsewhere(std::uint16_t slot, const RedisAddress& address,
                              std::set<RedisAddress>& tried) {
  const std::lock_guard lock(mutex_);
  tried.insert(address);
  slots_.erase(slot);
  for (const RedisAddress& node : known_) {
    if (tried.contains(node)) continue;
    slots_[slot] = node;
    return true;
  }
  return false;
}

// ASKING is for the next command alone, so it stands before each.
Result<RedisAnswers> RedisNodes::send(RedisLink& link, const RedisRequest& request, bool is_ask) {
  if (!is_ask) return link.ask(request);
  RedisRequest asking;
  asking.add({"ASKING"});
  FATHOM_TRY(link.ask(asking));
  return link.ask(request);
}

// True: the answers are there. False: once more, perhaps elsewhere. An idle connection that broke
// says nothing about Redis (a firewall, a restart), so the next attempt is made on a new one; a new
// one that breaks is an answer. Either way nobody knows whether the request was done: was_repeated
// tells.
Result<bool> RedisNodes::attempt(std::uint16_t slot, const RedisRequest& request,
                                 RequestProgress& progress) {
  const bool is_ask = std::exchange(progress.is_ask, false);
  const RedisAddress address = is_ask ? progress.ask_address : address_of(slot);
  Result<Borrowed> borrowed = borrow(address);
  if (!borrowed) {
    progress.last = borrowed.error();
    if (progress.last.code != Code::kUnavailable || !go_elsewhere(slot, address, progress.away))
      return progress.last;
    return false;
  }
  Result<RedisAnswers> answers = send(*borrowed->link, request, is_ask);
  if (!answers) {
    progress.last = answers.error();
    drop_idle(address);
    progress.reply.was_repeated = true;
    if (borrowed->is_new || progress.last.code != Code::kUnavailable) return progress.last;
    return false;
  }
  put_back(std::move(*borrowed));
  progress.reply.answers = std::move(*answers);
  return !is_sent_on(slot, address, progress);
}

// Follows what the answers say of where to ask.
bool RedisNodes::is_sent_on(std::uint16_t slot, const RedisAddress& from,
                            RequestProgress& progress) {
  constexpr std::chrono::milliseconds kPause{50};
  if (const RespValue* wait = try_again_in(progress.reply.answers)) {
    progress.last = redis_error(wait->text);
    std::this_thread::sleep_for(kPause);
    return true;
  }
  const RespValue* redirection = redirection_in(progress.reply.answers);
  RedisAddress to;
  if (redirection == nullptr || !read_redirection(redirection->text, from, to)) return false;
  const std::lock_guard lock(mutex_);
  if (!is_cluster_) return false;
  if (redirection->text.starts_with("ASK ")) {
    progress.is_ask = true;
    progress.ask_address = to;
    return true;
  }
  slots_[slot] = to;
  known_.insert(to);
  return true;
}

Result<RedisNodes::Reply> RedisNodes::ask(std::string_view key, const RedisRequest& request) {
  const std::uint16_t slot = redis_slot(key);
  RequestProgress progress;
  for (int attempts = 0; attempts < kAttempts; ++attempts) {
    FATHOM_ASSIGN(const bool is_done, attempt(slot, request, progress));
    if (is_done) return std::move(progress.reply);
  }
  return progress.last;
}

// What a node sends elsewhere is asked for once more, by itself.
Result<std::vector<RedisAnswers>> RedisNodes::ask_all(const std::vector<Question>& questions) {
  std::map<RedisAddress, std::vector<std::size_t>> by_node;
  for (std::size_t at = 0; at < questions.size(); ++at)
    by_node[address_of(redis_slot(questions[at].key))].push_back(at);
  std::vector<RedisAnswers> answers(questions.size());
  for (const auto& [address, mine] : by_node) {
    RedisRequest together;
    for (const std::size_t at : mine) together.append(questions[at].request);
    Result<Borrowed> borrowed = borrow(address);
    Result<RedisAnswers> all =
        borrowed ? borrowed->link->ask(together) : Result<RedisAnswers>(borrowed.error());
    if (all) put_back(std::move(*borrowed));
    auto next = all ? all->begin() : RedisAnswers::iterator();
    for (const std::size_t at : mine) {
      for (std::size_t one = 0; all && one < questions[at].request.commands(); ++one)
        answers[at].push_back(std::move(*next++));
      if (all && redirection_in(answers[at]) == nullptr) continue;
      FATHOM_ASSIGN(Reply reply, ask(questions[at].key, questions[at].request));
      answers[at] = std::move(reply.answers);
    }
  }
  return answers;
}

}  // namespace fathom::fleet
