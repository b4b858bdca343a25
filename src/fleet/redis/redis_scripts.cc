// SPDX-License-Identifier: MIT
// Lua's numbers are exact to 2^53, so sums beyond that are compared digit by digit and added by
// HINCRBY. Keys that are made inside of a script have the job's braces and lie in its slot.
#include "fleet/redis/redis_scripts.h"

#include <openssl/evp.h>

#include <array>

#include "base/hex.h"

namespace fathom::fleet {
namespace {

// Ranges of numbers, LAST:FIRST with 19 digits each. A number that was sent is in the first range
// that does not end before it.
constexpr const char* kSent = R"lua(
local function next_range(key, seq)
  return redis.call('ZRANGEBYLEX', key, '[' .. seq, '+', 'LIMIT', 0, 1)[1]
end
local function was_sent(key, seq)
  local range = next_range(key, seq)
  return range and string.sub(range, 21) <= seq
end
local function mark_sent(key, senders, sender, seq, before, after)
  local first, last = seq, seq
  local left = before ~= '' and redis.call('ZRANGEBYLEX', key, '[' .. before .. ':', '(' .. before .. ';', 'LIMIT', 0, 1)[1]
  if left then
    first = string.sub(left, 21)
    redis.call('ZREM', key, left)
  end
  local right = next_range(key, seq)
  if right and string.sub(right, 21) == after then
    last = string.sub(right, 1, 19)
    redis.call('ZREM', key, right)
  end
  redis.call('ZADD', key, 0, last .. ':' .. first)
  redis.call('SADD', senders, sender)
end
)lua";

// A thousand at a time: what a script may put on Lua's stack is limited.
constexpr const char* kDropNodes = R"lua(
local function drop_nodes(nodes, prefix)
  repeat
    local some = redis.call('ZRANGE', nodes, 0, 999)
    for _, index in ipairs(some) do
      local at = string.find(index, '\0\1', 1, true)
      local node = string.gsub(string.sub(index, 1, at - 1), '%z\255', '\0')
      local exec = string.gsub(string.sub(index, at + 2), '[%%:]', {['%'] = '%25', [':'] = '%3A'})
      redis.call('UNLINK', prefix .. 'node:' .. exec .. ':' .. node)
    end
    if #some > 0 then redis.call('ZREMRANGEBYRANK', nodes, 0, #some - 1) end
  until #some == 0
end
)lua";

constexpr const char* kCreate = R"lua(
local token = redis.call('GET', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 and token then
  return {token == ARGV[2] and 'ok' or 'exists', token}
end
redis.call('HSET', KEYS[1], 'info', ARGV[1], 'benchmark', '0')
redis.call('SET', KEYS[2], ARGV[2])
return {'ok', ARGV[2]}
)lua";

constexpr const char* kRemove = R"lua(
local token = redis.call('GET', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
drop_nodes(KEYS[3], ARGV[1])
for _, sender in ipairs(redis.call('SMEMBERS', KEYS[4])) do redis.call('UNLINK', ARGV[1] .. 'sent:' .. sender) end
for _, kind in ipairs(redis.call('SMEMBERS', KEYS[5])) do redis.call('UNLINK', ARGV[1] .. 'records:' .. kind) end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
return token or ''
)lua";

// KEYS: job, sent, senders, nodes, verdict, bound, then the nodes of this part.
// ARGV: phases, sender, number, the one before (or ''), the one after (or ''), the sum of all
// counts of the batch, then of each node its place in the index, its executable, how many events,
// and each event with its count. Phases: b begins, c checks this part, a adds it, e ends. One batch
// is 'bcae', or several parts in one transaction: first all are checked, then all are added; the
// verdict waits in a key meanwhile. Answers ok, dup (was sent before), nojob, or big (a sum would
// be too large).
//
// The bound is the sum of all that was ever added: while it fits into 63 bits, so does every sum,
// and few events of a node need not be read before they are added to.
constexpr const char* kAddProfile = R"lua(
local phases = ARGV[1]
local function has(phase) return string.find(phases, phase, 1, true) end
local verdict, is_bounded = 'ok', false
if has('b') then
  if redis.call('EXISTS', KEYS[1]) == 0 then verdict = 'nojob'
  elseif was_sent(KEYS[2], ARGV[3]) then verdict = 'dup'
  else
    is_bounded = type(redis.pcall('INCRBY', KEYS[6], ARGV[6])) == 'number'
    if not is_bounded then redis.call('SET', KEYS[6], '9223372036854775807') end
  end
else
  verdict = redis.call('GET', KEYS[5])
end
is_bounded = is_bounded and phases == 'bcae'

local function is_too_large(sum, count)
  local low = tonumber(string.sub(sum, -9)) + tonumber(string.sub(count, -9))
  local high = (tonumber(string.sub(sum, 1, -10)) or 0) + (tonumber(string.sub(count, 1, -10)) or 0)
  if low >= 1000000000 then low, high = low - 1000000000, high + 1 end
  return high > 9223372036 or (high == 9223372036 and low > 854775807)
end

-- What HSET and HINCRBY have to do for a node; nothing where a sum would be too large.
local function plan(key, at)
  local exec, events = ARGV[at + 1], tonumber(ARGV[at + 2])
  local fields = {'execname'}
  for event = 1, events do fields[event + 1] = ARGV[at + 1 + 2 * event] end
  local there = redis.call('HMGET', key, unpack(fields))
  local sets, adds = {}, {}
  if not there[1] then sets = {'execname', exec} end
  for event = 1, events do
    local name, count, sum = fields[event + 1], ARGV[at + 2 + 2 * event], there[event + 1] or '0'
    if #sum <= 15 and #count <= 15 then
      sets[#sets + 1] = name
      sets[#sets + 1] = string.format('%d', tonumber(sum) + tonumber(count))
    elseif is_too_large(sum, count) then
      return nil
    else
      adds[#adds + 1] = {name, count}
    end
  end
  return {key, not there[1] and ARGV[at], sets, adds}
end

-- A sum that is as large as the count may be new, and so may be its node.
local function add_blindly(key, at)
  local is_new = false
  for event = 1, tonumber(ARGV[at + 2]) do
    local count = ARGV[at + 2 + 2 * event]
    local sum = redis.call('HINCRBY', key, ARGV[at + 1 + 2 * event], count)
    is_new = is_new or sum == tonumber(count)
  end
  if is_new and redis.call('HSETNX', key, 'execname', ARGV[at + 1]) == 1 then
    redis.call('ZADD', KEYS[4], 0, ARGV[at])
  end
end

local plans = {}
local at = 7
if verdict == 'ok' and (has('c') or has('a')) then
  for node = 7, #KEYS do
    local events = tonumber(ARGV[at + 2])
    if is_bounded and events <= 2 then
      add_blindly(KEYS[node], at)
    else
      local one = plan(KEYS[node], at)
      if not one then
        verdict = 'big'
        break
      end
      if has('a') then plans[#plans + 1] = one end
    end
    at = at + 3 + 2 * events
  end
end
if verdict == 'ok' then
  for _, one in ipairs(plans) do
    if one[2] then redis.call('ZADD', KEYS[4], 0, one[2]) end
    if #one[3] > 0 then redis.call('HSET', one[1], unpack(one[3])) end
    for _, add in ipairs(one[4]) do redis.call('HINCRBY', one[1], add[1], add[2]) end
  end
end
if not has('e') then
  redis.call('SET', KEYS[5], verdict)
  return verdict
end
if verdict == 'ok' then mark_sent(KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4], ARGV[5]) end
if not has('b') then redis.call('DEL', KEYS[5]) end
return verdict
)lua";

// KEYS: job, sent, senders, kinds, the kind's list. ARGV: kind, sender, number, before, after, then
// the records. Benchmarks lie in the job's own hash.
constexpr const char* kAddRecords = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then return 'nojob' end
if was_sent(KEYS[2], ARGV[3]) then return 'dup' end
if ARGV[1] == 'benchmark' then
  local count = tonumber(redis.call('HGET', KEYS[1], 'benchmark'))
  for at = 6, #ARGV do redis.call('HSET', KEYS[1], string.format('%d', count + at - 6), ARGV[at]) end
  redis.call('HSET', KEYS[1], 'benchmark', string.format('%d', count + #ARGV - 5))
else
  redis.call('SADD', KEYS[4], ARGV[1])
  for at = 6, #ARGV do redis.call('RPUSH', KEYS[5], ARGV[at]) end
end
mark_sent(KEYS[2], KEYS[3], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
return 'ok'
)lua";

constexpr const char* kClearProfile = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then return 'nojob' end
drop_nodes(KEYS[2], ARGV[1])
redis.call('UNLINK', KEYS[3])
return 'ok'
)lua";

constexpr const char* kClearRecords = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then return 'nojob' end
if ARGV[1] == 'benchmark' then
  local count = tonumber(redis.call('HGET', KEYS[1], 'benchmark'))
  for number = 0, count - 1 do redis.call('HDEL', KEYS[1], string.format('%d', number)) end
  redis.call('HSET', KEYS[1], 'benchmark', '0')
else
  redis.call('UNLINK', KEYS[2])
  redis.call('SREM', KEYS[3], ARGV[1])
end
return 'ok'
)lua";

constexpr const char* kSetSent = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then return 'nojob' end
for _, sender in ipairs(redis.call('SMEMBERS', KEYS[2])) do redis.call('UNLINK', ARGV[1] .. 'sent:' .. sender) end
redis.call('UNLINK', KEYS[2])
for at = 2, #ARGV, 2 do
  redis.call('SADD', KEYS[2], ARGV[at])
  redis.call('ZADD', ARGV[1] .. 'sent:' .. ARGV[at], 0, ARGV[at + 1])
end
return 'ok'
)lua";

constexpr const char* kUnlist = R"lua(
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'ok'
)lua";

constexpr const char* kAddKind = R"lua(
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then return 'ok' end
return redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] and 'ok' or 'differs'
)lua";

std::string sha1_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
  return to_hex({digest.data(), length});
}

}  // namespace

RedisScript::RedisScript(std::string_view script) : text(script), sha1(sha1_of(script)) {}

RedisScripts::RedisScripts()
    : create(kCreate),
      remove(std::string(kDropNodes) + kRemove),
      add_profile(std::string(kSent) + kAddProfile),
      add_records(std::string(kSent) + kAddRecords),
      clear_profile(std::string(kDropNodes) + kClearProfile),
      clear_records(kClearRecords),
      set_sent(kSetSent),
      unlist(kUnlist),
      add_kind(kAddKind) {}

}  // namespace fathom::fleet
