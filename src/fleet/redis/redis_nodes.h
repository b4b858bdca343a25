// SPDX-License-Identifier: MIT
// A Redis, or all nodes of a Redis Cluster: finds the node that has a key, keeps connections, makes
// new ones where they broke, and looks whether a node keeps what it is told. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/redis/redis_link.h"
#include "fleet/redis/redis_target.h"

namespace fathom::fleet {

// Where a Redis Cluster keeps a key: by what stands in its first braces, if anything does.
[[nodiscard]] std::uint16_t redis_slot(std::string_view key);

// Owns the connections, which threads borrow: each asks on one of its own, so that nobody waits for
// another's answer.
class RedisNodes {
 public:
  struct Reply {
    RedisAnswers answers;       // none is a redirection; may be other errors
    bool was_repeated = false;  // sent more than once: Redis may have done it more than once
  };

  // `may_forget`: a Redis that loses what it was told is accepted.
  RedisNodes(RedisTarget target, bool may_forget)
      : target_(std::move(target)), may_forget_(may_forget) {}

  // All commands are about keys of one slot, that of `key`. Sends again where a connection broke,
  // so a request must be one that can be repeated. kUnavailable: given up.
  Result<Reply> ask(std::string_view key, const RedisRequest& request);

  struct Question {
    std::string key;
    RedisRequest request;
  };
  // Many, with one round trip a node. The answers of each.
  Result<std::vector<RedisAnswers>> ask_all(const std::vector<Question>& questions);

 private:
  struct Borrowed {
    std::unique_ptr<RedisLink> link;
    RedisAddress address;
    bool is_new = false;
  };

  Result<Borrowed> borrow(const RedisAddress& address);
  void put_back(Borrowed borrowed);
  void drop_idle(const RedisAddress& address);
  RedisAddress address_of(std::uint16_t slot);
  // Somebody of a cluster who is not `address`; false where there is none.
  bool go_elsewhere(std::uint16_t slot, const RedisAddress& address, std::set<RedisAddress>& tried);
  // What is known of a request that is under way, from one attempt to the next.
  struct RequestProgress {
    Reply reply;
    std::set<RedisAddress> away;  // nodes that do not answer
    bool is_ask = false;          // once, ask at
    RedisAddress ask_address;
    Error last{Code::kUnavailable, "Redis redirects from node to node without end", ""};
  };
  Result<bool> attempt(std::uint16_t slot, const RedisRequest& request, RequestProgress& progress);
  static Result<RedisAnswers> send(RedisLink& link, const RedisRequest& request, bool is_ask);
  bool is_sent_on(std::uint16_t slot, const RedisAddress& from, RequestProgress& progress);
  void learn_nodes(RedisLink& link, const RedisAddress& from);

  const RedisTarget target_;
  const bool may_forget_;
  std::mutex mutex_;
  std::map<RedisAddress, std::vector<std::unique_ptr<RedisLink>>> idle_;
  std::map<std::uint16_t, RedisAddress> slots_;  // learnt from redirections
  std::set<RedisAddress> known_;                 // nodes of the cluster
  bool is_cluster_ = false;
};

}  // namespace fathom::fleet
