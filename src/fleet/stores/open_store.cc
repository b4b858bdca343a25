// SPDX-License-Identifier: MIT
// Tells the kinds of stores apart by the address. A password from a file or the environment
// replaces the address's own, because a process list shows command lines.
#include "fleet/stores/open_store.h"

#include <cstdlib>

#include "base/own_file.h"
#include "base/text.h"
#include "fleet/redis/redis_store.h"
#include "fleet/redis/redis_target.h"
#include "fleet/sqlite/sqlite_store.h"

namespace fathom::fleet {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_redis(std::string_view address) {
  return address.starts_with("redis://") || address.starts_with("rediss://") ||
         address.starts_with("redis+unix:");
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe : nobody sets it)
  return value != nullptr ? value : "";
}

Status find_password(RedisTarget& target, const StoreOptions& options) {
  constexpr std::size_t kLongest = 4096;
  if (!options.redis_password_file.empty()) {
    FATHOM_ASSIGN(const std::string text, read_private_file(options.redis_password_file, kLongest));
    target.password = trim(text);
    return {};
  }
  std::string given = from_environment("FATHOM_REDIS_PASSWORD");
  if (!given.empty()) target.password = std::move(given);
  return {};
}

Result<std::unique_ptr<JobStore>> open_redis(std::string_view address,
                                             const StoreOptions& options) {
  FATHOM_ASSIGN(RedisTarget target, parse_redis_url(address));
  FATHOM_TRY(find_password(target, options));
  target.ca_file =
      options.redis_ca_file.empty() ? from_environment("FATHOM_REDIS_CA") : options.redis_ca_file;
  target.cert_file = options.redis_cert_file;
  target.key_file = options.redis_key_file;
  return open_redis_store(target, {.may_forget = options.is_volatile});
}

}  // namespace

bool is_store_address(std::string_view address) {
  return address.starts_with(kSqlite) || is_redis(address);
}

Result<std::unique_ptr<JobStore>> open_store(std::string_view address,
                                             const StoreOptions& options) {
  if (is_redis(address)) return open_redis(address, options);
  if (address.starts_with(kSqlite) && address.size() > kSqlite.size())
    return open_sqlite_store(std::string(address.substr(kSqlite.size())));
  return Error{Code::kInvalid, "'" + escape_control(address.substr(0, 80)) + "' is not a store",
               "sqlite:FILE, redis://HOST:PORT/DB, rediss://… or redis+unix:PATH"};
}

}  // namespace fathom::fleet
