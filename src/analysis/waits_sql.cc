// SPDX-License-Identifier: MIT
// The SQL of view `waits`: each time range that a thread spent off the CPU gets a cause, a call
// and, where it can be known, the object that it waited for. It is one statement, in four parts
// that build on each other:
//
//   kFrames  what the stack that a thread left from says: cause, call, caller
//   kCalls   the recorded call that was open, which says more than a stack; what it waited for
//   kReady   how much of each wait was not for the object, but for a free CPU
//   kRows    names, and one row for all waits of a thread that have the same name
#include "analysis/waits_sql.h"

#include <fmt/format.h>

#include <string_view>

#include "analysis/layer_sql.h"
#include "analysis/wait_causes.h"
#include "base/text.h"
#include "sql/quote.h"

namespace fathom::analysis {
namespace {

// Shorter calls hold no wait that is worth the search.
constexpr std::int64_t kShortestCall = 5000;
// Who was woken from a poll reads from what woke it within this time.
constexpr std::int64_t kSoonAfter = 1'000'000;
// A call that waited for more different things than these is told with their number.
constexpr int kMostObjects = 3;

// ("function", cause, rank) of every function that tells.
std::string causes_sql() {
  std::string rows;
  int rank = 0;
  for (const WaitCause& one : kWaitCauses) {
    ++rank;
    for (const std::string_view name : split(one.functions, ' ')) {
      rows += fmt::format("{}({}, {}, {})", rows.empty() ? "" : ", ", sql::quote_literal(name),
                          sql::quote_literal(one.cause), rank);
    }
  }
  return "SELECT * FROM (VALUES " + rows + ") AS told(\"function\", cause, rank)";
}

// What each stack says. A program may have a function `poll` of its own: one of a library counts,
// and any where libc is part of the program (a static binary, whose frames have no module of
// libc's).
constexpr char kFrames[] = R"(
  -- The functions that mean a wait, with its cause: the table of wait_causes.h.
  causes AS MATERIALIZED ({causes}),
  -- One row for each frame of each stack.
  places AS (
    SELECT DISTINCT stack, depth, "function", coalesce(module, '') AS module FROM frames),
  -- Each frame with a plain name ("word": without the prefixes of libc's inner functions) and whose
  -- code it is.
  plain AS (
    SELECT stack, depth, "function", starts_with(module, '[kernel') AS in_kernel,
           CASE WHEN in_kernel THEN "function" ELSE
             regexp_replace(regexp_replace("function", '^(__GI_)?_*(libc_)?_*', ''), '[.]abi0$', '')
           END AS word,
           module = '[vdso]' OR regexp_matches(module,
             '(^|/)(lib(c|pthread|rt|dl|m|stdc[+][+]|gcc_s|gomp|uring|aio|cuda|cudart|fathom)[-.0-9]|ld-)[^/]*$')
             AS of_library
    FROM places),
  -- What a stack is made of: where the kernel begins, and where the program's own frames end. Depth 0
  -- is the outermost frame.
  shapes AS (
    SELECT stack, bool_or(of_library) AS has_library,
           min(depth) FILTER (in_kernel) AS kernel_from,
           max(depth) FILTER (NOT in_kernel) AS user_to,
           max(depth) FILTER (NOT in_kernel AND (NOT of_library OR {starts})) AS program_to,
           arg_max("function", depth) AS leaf,
           arg_min(regexp_extract("function", '^(__[a-z0-9]+_sys_|ksys_|kernel_)(\w+)$', 2), depth)
             FILTER (in_kernel AND regexp_matches("function", '^(__[a-z0-9]+_sys_|ksys_|kernel_)\w+$'))
             AS system_call
    FROM plain GROUP BY stack),
  -- The cause: of all functions that tell, the one of the lowest rank; of these, the outermost.
  matched AS (
    SELECT p.stack, min_by(c.cause, (c.rank, p.depth)) AS cause,
           min_by(p.word, (c.rank, p.depth)) AS word,
           min(p.depth) FILTER (NOT in_kernel) AS call_at
    FROM plain p JOIN causes c ON c."function" = p.word JOIN shapes s USING (stack)
    WHERE in_kernel OR of_library OR NOT has_library GROUP BY p.stack),
  -- The call: the outermost of the library's functions that led into the kernel; where the program
  -- has its libc in itself, the outermost that is known. A page fault is no call. A stack that was
  -- sampled before the wait, because there was no room for the wait's own, does not end in the
  -- scheduler.
  told AS (
    SELECT s.stack, m.cause,
           m.cause IS NOT NULL OR (s.kernel_from IS NOT NULL AND
             regexp_matches(s.leaf, 'sched|yield|^\[kernel\]$')) AS is_wait,
           CASE WHEN m.cause = 'page fault' THEN NULL
                WHEN has_library AND user_to > coalesce(program_to, -1)
                  THEN coalesce(program_to, -1) + 1
                ELSE m.call_at END AS call_at,
           s.system_call, m.word, s.leaf
    FROM shapes s LEFT JOIN matched m USING (stack)),
  -- In words: the call's name, and the innermost function of the program that led to it.
  seen AS (
    SELECT t.stack, any_value(t.cause) AS cause, any_value(t.is_wait) AS is_wait,
           coalesce(if(any_value(t.cause) = 'page fault', 'page fault', NULL),
                    nullif(arg_max(p.word, p.depth) FILTER (p.depth = t.call_at), ''),
                    any_value(t.system_call), any_value(t.word), any_value(t.leaf)) AS call,
           arg_max(p."function", p.depth) FILTER (
             NOT p.in_kernel AND NOT p.of_library AND p.depth < coalesce(t.call_at, 1000000)
             AND p.word IS DISTINCT FROM t.system_call AND NOT regexp_matches(p."function",
               '^(std::|void std::|__gthread_|__gnu_cxx::|_start$)|[Ss]yscall')) AS caller
    FROM told t JOIN plain p USING (stack) GROUP BY t.stack),)";

// What begins a thread or a program is no call of it.
constexpr char kStarts[] =
    R"(word IN ('start', 'start_main', 'start_main_impl', 'start_call_main', 'start_thread', 'clone',
                'clone3', 'execute_native_thread_routine', 'dl_start', 'dl_start_user'))";

// A thread waits in the call that it began last, if that has not ended. What the call leads to
// tells more than its name: read() of a pipe.
constexpr char kCalls[] = R"(
  -- The time that the kernel says each thread was ready to run, in all of its life.
  lives AS (
    SELECT coalesce(host, '') AS host, pid, tid, sum(ready) AS ready FROM threads GROUP BY ALL),
  -- The time ranges off the CPU: asleep until something woke the thread, then ready.
  stretches AS (
    SELECT coalesce(host, '') AS host, pid, tid, ts, ts + weight AS stop, stack,
           weight - coalesce(ready, 0) AS asleep, coalesce(ready, 0) AS ready
    FROM samples WHERE event = 'off-cpu'),
  -- The calls that may hold a wait. Not those of the kernel: their sums have no place in a thread.
  calls AS (
    SELECT coalesce(host, '') AS host, pid, tid, ts, ts + dur AS stop, layer, name, category, file,
           args['peer'] AS peer
    FROM events WHERE dur >= {shortest} AND layer NOT IN @beside AND layer NOT IN @code
      AND layer NOT IN @kernel),
  -- Each range with the last call that began before it. ASOF joins find one row each, in one pass
  -- over both; a join by times would compare every range with every call of its thread.
  inside AS (
    SELECT s.*, if(s.ts < c.stop, c.layer, NULL) AS layer, if(s.ts < c.stop, c.name, NULL) AS name,
           if(s.ts < c.stop, c.file, NULL) AS file, if(s.ts < c.stop, c.peer, NULL) AS peer
    FROM stretches s ASOF LEFT JOIN calls c
      ON s.host = c.host AND s.pid = c.pid AND s.tid = c.tid AND s.ts >= c.ts
    WHERE s.asleep > 0),
  -- The cause, from what knows it best: the device, what is at the other end of the descriptor, the
  -- call's name, the stack.
  caused AS (
    SELECT i.*, coalesce(i.name, t.call) AS call, t.caller, coalesce(t.is_wait, false) AS is_wait,
           CASE WHEN i.layer IN @device OR i.layer = 'cuda' THEN 'gpu'
                WHEN starts_with(i.peer, 'pipe') THEN 'pipe'
                WHEN starts_with(i.peer, 'socket') THEN 'socket'
                WHEN c.cause IS NOT NULL THEN c.cause
                WHEN t.cause IS NOT NULL THEN t.cause
                WHEN i.file IS NOT NULL THEN 'file'
                ELSE 'other' END AS cause
    FROM inside i LEFT JOIN causes c ON c."function" = i.name LEFT JOIN seen t ON t.stack = i.stack),
  -- Whoever waits for children is woken by one that ended, who polls reads from what is there.
  ends AS (
    SELECT coalesce(host, '') AS host, ppid AS pid, name, "end" FROM processes
    WHERE "end" IS NOT NULL AND ppid IS NOT NULL),
  -- The child that a parent waited for: the last one that had ended when the wait did.
  of_child AS (
    SELECT c.*, e.name AS object FROM (SELECT * FROM caused WHERE cause = 'child') c
      ASOF LEFT JOIN ends e ON c.host = e.host AND c.pid = e.pid AND c.stop >= e."end"),
  reads AS (
    SELECT coalesce(host, '') AS host, pid, tid, ts, args['peer'] AS peer FROM events
    WHERE category = 'read' AND layer IN @io AND args['peer'] IS NOT NULL),
  -- What woke a poll: whatever the thread read from next, if it did so soon.
  of_poll AS (
    SELECT c.*, if(r.ts - c.stop <= {soon}, r.peer, NULL) AS object
    FROM (SELECT * FROM caused WHERE cause = 'poll') c
      ASOF LEFT JOIN reads r
      ON c.host = r.host AND c.pid = r.pid AND c.tid = r.tid AND c.stop <= r.ts),
  -- All ranges, with the object that was waited for and its kind. A vfork is over when its
  -- child execs: a child that had ended by then is another one.
  known AS (
    SELECT * REPLACE (if(call = 'vfork', NULL, object) AS object), 'child' AS kind FROM of_child
    UNION ALL SELECT *, regexp_extract(object, '^[a-z]+') FROM of_poll
    UNION ALL SELECT *, coalesce(peer, file),
                     if(peer IS NULL, 'file', regexp_extract(peer, '^[a-z]+'))
              FROM caused WHERE cause NOT IN ('child', 'poll')),)";

// What the kernel counted as ready beyond what stretches tell: who is woken has to wait for a CPU.
// That takes as long after a long wait as after a short one, so each wait gives the same, as far as
// it has it; what is then left is taken from all in proportion.
constexpr char kReady[] = R"(
  -- For each thread: the ready time that no range tells of, and how many waits may have it.
  late AS (
    SELECT s.host, s.pid, s.tid,
           least(greatest(0, any_value(l.ready) - sum(s.ready)), sum(s.asleep)) AS extra,
           count(*) FILTER (s.asleep > 0) AS waits
    FROM stretches s JOIN lives l USING (host, pid, tid) GROUP BY s.host, s.pid, s.tid),
  -- The same part of it for each wait, at most the wait itself.
  even AS (
    SELECT k.*, l.extra, least(k.asleep, coalesce(l.extra / nullif(l.waits, 0), 0)) AS part
    FROM known k LEFT JOIN late l USING (host, pid, tid)),
  -- What short waits could not take: a factor of what is left of the long ones.
  rests AS (
    SELECT host, pid, tid,
           greatest(0, any_value(extra) - sum(part)) / nullif(sum(asleep - part), 0) AS factor
    FROM even GROUP BY host, pid, tid),
  -- Each wait with both parts of its ready time.
  woken AS (
    SELECT e.*, least(asleep, part + (asleep - part) * coalesce(factor, 0)) AS late
    FROM even e JOIN rests USING (host, pid, tid)),
  -- How many objects each call of a process waited for: many are told as their number.
  crowds AS (
    SELECT host, pid, call, cause, count(DISTINCT object) AS objects FROM woken GROUP BY ALL),)";

// One row for each name that a wait gets. Rounding down keeps the sum of all rows at or below the
// thread's time off the CPU.
constexpr char kRows[] = R"(
  -- "write: pipe:[42]", "poll in main_loop", "read: 12 sockets".
  named AS (
    SELECT nullif(w.host, '') AS host, w.pid, w.tid, w.cause, w.call, w.caller, w.stack, w.asleep, w.late,
           CASE WHEN c.objects <= {most} THEN w.object
                WHEN w.object IS NULL THEN NULL
                WHEN w.kind = 'child' THEN c.objects || ' children'
                ELSE c.objects || ' ' || w.kind || 's' END AS target,
           CASE WHEN NOT w.is_wait AND w.name IS NULL THEN 'last seen in ' || w.call
                ELSE w.call || coalesce(': ' || target, ' in ' || nullif(w.caller, w.call), '')
           END AS waits_in
    FROM woken w JOIN crowds c
      ON c.host = w.host AND c.pid = w.pid AND c.call IS NOT DISTINCT FROM w.call AND c.cause = w.cause)
  SELECT host, pid, tid, cause, waits_in AS name, call, target AS object, caller,
         CAST(floor(sum(asleep - late)) AS BIGINT) AS "time",
         CAST(floor(sum(late)) AS BIGINT) AS ready, count(*) AS waits, max(asleep) AS longest,
         list(DISTINCT stack) FILTER (stack IS NOT NULL) AS stacks
  FROM named GROUP BY ALL)";

std::string make_sql() {
  const std::string frames =
      fmt::format(kFrames, fmt::arg("causes", causes_sql()), fmt::arg("starts", kStarts));
  const std::string calls =
      fmt::format(kCalls, fmt::arg("shortest", kShortestCall), fmt::arg("soon", kSoonAfter));
  return layer_sql("WITH" + frames + calls + kReady +
                   fmt::format(kRows, fmt::arg("most", kMostObjects)));
}

}  // namespace

const std::string& waits_sql() {
  static const std::string text = make_sql();
  return text;
}

}  // namespace fathom::analysis
