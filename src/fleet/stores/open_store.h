// SPDX-License-Identifier: MIT
// A store by its address: what `--store` takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/store.h"

namespace fathom::fleet {

struct StoreOptions {
  bool is_volatile = false;         // accept a Redis that may lose what it has acknowledged
  std::string redis_password_file;  // 0600, one line; else FATHOM_REDIS_PASSWORD, else the URL's
  std::string redis_ca_file;        // for rediss://; else FATHOM_REDIS_CA, else the system's
  std::string redis_cert_file;      // shown to Redis, with its key
  std::string redis_key_file;
};

// "sqlite:FILE", "redis://[USER@]HOST:PORT/DB", "rediss://…", "redis+unix:PATH". kInvalid for
// anything else. The directory of FILE must be there.
Result<std::unique_ptr<JobStore>> open_store(std::string_view address,
                                             const StoreOptions& options = {});

// Whether open_store() knows what this begins with; a server's URL is not one of these.
[[nodiscard]] bool is_store_address(std::string_view address);

}  // namespace fathom::fleet
