// SPDX-License-Identifier: MIT
// What must happen in Redis whole or not at all: Lua, which Redis runs without anything in between
// and writes to its append-only file as one transaction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::fleet {

// Sent by its hash, and once by its text to a Redis that does not know it yet: scripts go when
// Redis begins anew.
struct RedisScript {
  explicit RedisScript(std::string_view text);
  std::string text;
  std::string sha1;  // EVALSHA's name of it
};

// One of each for the process.
struct RedisScripts {
  RedisScripts();
  RedisScript create;         // job token; info token -> ok exists, and the token that is there
  RedisScript remove;         // job token nodes senders kinds bound; prefix -> the token, or nil
  RedisScript add_profile;    // see the text
  RedisScript add_records;    // see the text
  RedisScript clear_profile;  // job nodes bound; prefix -> ok nojob
  RedisScript clear_records;  // job records kinds; kind -> ok nojob
  RedisScript set_sent;       // job senders; prefix, then SENDER, LAST:FIRST, … -> ok nojob
  RedisScript unlist;         // fathom:jobs; name token
  RedisScript add_kind;       // fathom:kinds; name schema -> ok differs
};

}  // namespace fathom::fleet
