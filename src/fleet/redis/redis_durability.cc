// SPDX-License-Identifier: MIT
// With `appendfsync always` Redis writes and syncs its append-only file before it answers, for all
// clients of a turn of its loop at once. Anything less may lose what was acknowledged. We ask on
// every new connection: a Redis may come back with other settings.
#include "fleet/redis/redis_durability.h"

#include <string>
#include <string_view>

#include "fleet/redis/redis_errors.h"

namespace fathom::fleet {
namespace {

Error forgets(const std::string& what, const std::string& hint) {
  return {Code::kUnsupported, "this Redis may lose what it has acknowledged: " + what,
          hint + "; or accept it (--volatile)"};
}

bool says(std::string_view info, std::string_view line) {
  return info.find(line) != std::string_view::npos;
}

// CONFIG GET answers name, value.
Result<std::string> setting(const RespValue& answer, const char* name) {
  if (answer.is_error())
    return forgets("it does not show its setting " + std::string(name) + " (" + answer.text + ")",
                   "allow this user to ask: ACL SETUSER … +config|get");
  return answer.items.size() == 2 ? answer.items[1].text : std::string();
}

Status check_settings(const RedisAnswers& answers) {
  FATHOM_ASSIGN(const std::string sync, setting(answers[2], "appendfsync"));
  FATHOM_ASSIGN(const std::string rewrite, setting(answers[3], "no-appendfsync-on-rewrite"));
  FATHOM_ASSIGN(const std::string memory, setting(answers[4], "maxmemory"));
  FATHOM_ASSIGN(const std::string policy, setting(answers[5], "maxmemory-policy"));
  if (sync != "always")
    return forgets("appendfsync is " + sync + " (AOF)",
                   "redis-cli CONFIG SET appendfsync always, and in its redis.conf");
  if (rewrite == "yes")
    return forgets("no-appendfsync-on-rewrite is yes",
                   "redis-cli CONFIG SET no-appendfsync-on-rewrite no, and in its redis.conf");
  if (memory != "0" && policy.starts_with("allkeys"))
    return forgets("maxmemory-policy is " + policy,
                   "redis-cli CONFIG SET maxmemory-policy noeviction, and in its redis.conf");
  return {};
}

}  // namespace

Result<RedisNature> check_redis(RedisLink& link, bool may_forget) {
  RedisRequest request;
  request.add({"INFO", "persistence"}).add({"INFO", "cluster"});
  for (const char* name :
       {"appendfsync", "no-appendfsync-on-rewrite", "maxmemory", "maxmemory-policy"})
    request.add({"CONFIG", "GET", name});
  FATHOM_ASSIGN(const RedisAnswers answers, link.ask(request));
  for (const RespValue* info : {&answers[0], &answers[1]})
    if (info->is_error()) return redis_error(info->text);
  const RedisNature nature{.is_cluster = says(answers[1].text, "cluster_enabled:1")};
  if (says(answers[0].text, "\r\nloading:1")) return redis_error("LOADING it reads its files");
  if (may_forget) return nature;
  if (!says(answers[0].text, "\r\naof_enabled:1"))
    return forgets("it keeps no append-only file (AOF)",
                   "redis-cli CONFIG SET appendonly yes, and in its redis.conf");
  FATHOM_TRY(check_settings(answers));
  return nature;
}

}  // namespace fathom::fleet
