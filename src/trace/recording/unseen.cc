// SPDX-License-Identifier: MIT
// The kernel counts the bytes of a process together with those of the children that it waited for.
// So a process is judged only where each of its children told what the kernel counted of it, and
// every doubt (buffers of stdio, what the loader and libc read for themselves) counts as seen.
#include "trace/recording/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/sum.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/rows/copies.h"
#include "trace/rows/layers.h"
#include "trace/spool/losses.h"
#include "wire/exec.h"

namespace fathom::trace {
namespace {

constexpr std::int64_t kKiB = 1024;
// Below these a difference says nothing: what programs do before our hooks see them.
constexpr std::int64_t kLeast = 1024 * kKiB;        // read: libraries, locales, /proc
constexpr std::int64_t kLeastMapped = 2048 * kKiB;  // many read small files in this way
constexpr std::int64_t kLeastWritten = 64 * kKiB;   // what libc writes for itself
constexpr std::int64_t kOfChild = 64 * kKiB;        // what a child flushes after it told
constexpr std::int64_t kOfBuffer = 64 * kKiB;       // what one call of stdio may read ahead
constexpr std::int64_t kShare = 10;                 // one part in so many is worth a word

bool is_recorded(const Manifest& manifest, std::string_view name) {
  return std::ranges::any_of(manifest.layers, [name](const LayerState& layer) {
    return layer.layer == name && (layer.state == "on" || layer.state == "partial");
  });
}

// Bytes of one process, or those that were seen of it.
struct Moved {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

struct Seen {
  Moved bytes;
  std::int64_t buffered_reads = 0;  // calls of stdio
  std::int64_t buffered_writes = 0;
};

void add_row(const SummaryRow& row, std::string_view layer, std::string_view category, Seen& seen) {
  const bool buffered = layer == "stdio";
  const std::int64_t bytes = row.bytes == kNull ? 0 : row.bytes;
  if (category == kWriteCategory) {
    add_to(seen.bytes.written, bytes);
    if (buffered) add_to(seen.buffered_writes, row.calls);
  } else {
    if (category == "read") add_to(seen.bytes.read, bytes);
    if (buffered) add_to(seen.buffered_reads, row.calls);  // a seek fills its buffer, too
  }
}

// What the kernel counted; nothing where nobody told.
std::optional<Moved> counted_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const Result<std::int64_t> number = parse_int(word);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != 2) return std::nullopt;
  return Moved{numbers[0], numbers[1]};
}

// A process is what has one pid: several programs, of which the last one tells. A pid that was
// given away again has the sums of both, which hides and does not accuse.
struct Life {
  const Process* last = nullptr;
  std::int64_t parent = 0;
  std::int64_t told = 0;  // times that the kernel's count was told
  std::int64_t ends = 0;  // programs of it that became no other
  std::int64_t children = 0;
  std::set<std::int64_t> waited;  // children, by number
  Moved counted;
  Seen seen;
};
using Lives = std::map<std::int64_t, Life>;

void add_program(const Definitions& definitions, const Process& process, Life& life) {
  bool execs = false;
  for (const Note& note : process.notes) {
    if (note.kind == NoteKind::kExec && note.pid == 0) execs = true;
    if (note.kind == NoteKind::kExecFailed) execs = false;
    if (note.kind == NoteKind::kWaited) life.waited.insert(note.pid);
  }
  life.ends += execs ? 0 : 1;
  life.parent = process.ppid;
  if (life.last == nullptr || life.last->start_tick < process.start_tick) life.last = &process;
  const std::optional<Moved> counted =
      counted_in(definitions.own_meta(process, FATHOM_META_KERNEL_IO));
  if (!counted) return;
  life.told++;
  add_to(life.counted.read, counted->read);
  add_to(life.counted.written, counted->written);
}

// Who is killed tells nothing. Of the program itself, the recorder did.
void add_recorders_count(const Manifest& manifest, Lives& lives) {
  const auto text = manifest.facts.find(FATHOM_META_KERNEL_IO);
  const auto program = lives.find(manifest.pid.value_or(0));
  if (text == manifest.facts.end() || program == lives.end()) return;
  const std::optional<Moved> counted = counted_in(text->second);
  Life& life = program->second;
  if (!counted || life.told > 0 || life.ends != 1) return;
  life.told = 1;
  life.counted = *counted;
}

Lives lives_of(const Definitions& definitions, const SummaryTable& summary,
               const Strings& strings) {
  Lives lives;
  for (const auto& process : definitions.processes())
    add_program(definitions, *process, lives[process->pid]);
  for (const SummaryRow& row : summary.rows()) {
    const std::string_view layer = strings.view(row.key.layer);
    const auto life = lives.find(row.key.pid);
    if (life != lives.end() && is_io(layer))
      add_row(row, layer, strings.view(row.key.category), life->second.seen);
  }
  return lives;
}

// Takes what children did away from their parents, and forgets those of whose children it is not
// known.
void separate_children(Lives& lives) {
  const Lives whole = lives;
  std::set<std::int64_t> unknown;
  for (const auto& [pid, child] : whole) {
    const auto parent = lives.find(child.parent);
    if (parent == lives.end() || child.parent == pid) continue;
    add_to(parent->second.counted.read, -child.counted.read);
    add_to(parent->second.counted.written, -child.counted.written);
    add_to(parent->second.children, child.ends);
    if (child.told < child.ends) unknown.insert(child.parent);
  }
  for (const auto& [pid, life] : whole) {
    for (const std::int64_t child : life.waited) {
      const auto found = whole.find(child);
      if (found == whole.end() || found->second.parent != pid) unknown.insert(pid);
    }
  }
  for (const std::int64_t pid : unknown) lives.erase(pid);
}

bool is_much(std::int64_t unseen, std::int64_t least, std::int64_t whole) {
  return unseen > least && unseen > whole / kShare;
}

std::string program_of(const Definitions& definitions, const Process& process) {
  const std::string path = escape_invalid_utf8(definitions.meta(process, "exe"));
  return path.empty() ? "a program without a name" : path;
}

std::string share_text(std::int64_t unseen, std::int64_t whole, const char* verb) {
  return fmt::format("{} of {} that it {}", human_bytes(static_cast<double>(unseen)),
                     human_bytes(static_cast<double>(whole)), verb);
}

// "" where all was seen.
std::string unseen_of(const Life& life) {
  const Moved& counted = life.counted;
  const Seen& seen = life.seen;
  const std::int64_t of_children = life.children * kOfChild;
  const std::int64_t read = counted.read - seen.bytes.read;
  const std::int64_t written = counted.written - seen.bytes.written;
  std::vector<std::string> parts;
  if (is_much(read - of_children - seen.buffered_reads * kOfBuffer, kLeast, counted.read))
    parts.push_back(share_text(read, counted.read, "read"));
  if (is_much(written - of_children - seen.buffered_writes * kOfBuffer, kLeastWritten,
              counted.written))
    parts.push_back(share_text(written, counted.written, "wrote"));
  if (parts.empty()) return "";
  return join(parts, " and ") +
         " passed no hook: raw system calls, as of another language's runtime; "
         "--layers +syscall records them";
}

// What they are, and whose they are.
constexpr std::pair<std::string_view, std::string_view> kRequests[] = {{"io_uring", "liburing"},
                                                                       {"libaio", "libaio"}};

constexpr char kRawCalls[] = "raw system calls";

bool is_go(const Definitions& definitions, const Process& process) {
  return !definitions.own_meta(process, FATHOM_META_UNSEEN "Go").empty();
}

// Whether what the kernel counted can be held against what was recorded.
bool can_compare(const Manifest& manifest, const SummaryTable& summary, const Strings& strings) {
  const bool lost = std::ranges::any_of(manifest.losses, [](const Loss& loss) {
    return loss.count > 0 && (loss.layer.empty() || is_io(loss.layer)) && hides_events(loss);
  });
  const bool cut = std::ranges::any_of(summary.rows(), [&](const SummaryRow& row) {
    return row.key.name != kNoString && strings.view(row.key.name) == kOtherNames;
  });
  const bool without = std::ranges::any_of(manifest.not_covered,
                                           [](const NotCovered& one) { return one.what.empty(); });
  return !lost && !cut && !without && manifest.path_filter.empty() &&
         !is_recorded(manifest, "syscall");
}

// Not memory that is shared under a name, nor code.
bool is_data(std::string_view path) {
  constexpr std::string_view kNone[] = {"/dev/", "/proc/", "/sys/", "/memfd:", "/SYSV"};
  const bool none = std::ranges::any_of(
      kNone, [path](std::string_view prefix) { return path.starts_with(prefix); });
  return path.starts_with('/') && !none && !path.ends_with(".so") &&
         path.find(".so.") == std::string_view::npos;
}

struct Mapped {
  std::map<std::string_view, std::int64_t> files;  // bytes of each
  std::int64_t moved = 0;                          // by calls
};

std::map<std::uint64_t, Mapped> mapped_of(const SummaryTable& summary, const Strings& strings) {
  std::map<std::uint64_t, Mapped> found;
  for (const SummaryRow& row : summary.rows()) {
    if (row.key.process == 0 || !is_io(strings.view(row.key.layer))) continue;
    Mapped& mapped = found[row.key.process];
    if (row.bytes != kNull) add_to(mapped.moved, row.bytes);
    const bool maps = strings.view(row.key.name) == kMapping && row.access.extent > 0;
    if (!maps || row.key.file == kNoString || !is_data(strings.view(row.key.file))) continue;
    add_to(mapped.files[strings.view(row.key.file)], row.access.extent);
  }
  return found;
}

void add_mapped(const Definitions& definitions, const SummaryTable& summary, const Strings& strings,
                std::vector<NotCovered>& found) {
  std::map<std::uint64_t, Mapped> mapped = mapped_of(summary, strings);
  for (const auto& process : definitions.processes()) {
    const auto its = mapped.find(process->key);
    if (its == mapped.end() || its->second.files.empty()) continue;
    Mapped& one = its->second;
    const std::string program = program_of(definitions, *process);
    one.files.erase(program);  // who maps that reads code
    std::int64_t bytes = 0;
    for (const auto& [file, size] : one.files) add_to(bytes, size);
    if (!is_much(bytes, kLeastMapped, plus(bytes, one.moved))) continue;
    const std::string files = one.files.size() == 1 ? std::string(one.files.begin()->first)
                                                    : fmt::format("{} files", one.files.size());
    found.push_back(
        {.pid = process->pid,
         .program = program,
         .reason = fmt::format("{} of {} mapped into memory, which is read and written without "
                               "calls; --layers +pagecache records the faults",
                               human_bytes(static_cast<double>(bytes)), files),
         .what = "mapped files"});
  }
}

}  // namespace

std::vector<NotCovered> unseen_requests(const Definitions& definitions, const Manifest& manifest) {
  std::vector<NotCovered> found;
  if (is_recorded(manifest, "syscall")) return found;
  for (const auto& process : definitions.processes()) {
    if (is_go(definitions, *process))
      found.push_back({.pid = process->pid,
                       .program = program_of(definitions, *process),
                       .reason =
                           "Go's runtime makes its system calls itself, and they pass no hook; "
                           "--layers +syscall records them",
                       .what = kRawCalls});
    for (const auto& [what, library] : kRequests) {
      const std::string key = FATHOM_META_UNSEEN + std::string(what);
      const std::string_view told = definitions.own_meta(*process, key);
      if (told.empty()) continue;
      const std::string by = told == FATHOM_META_UNSEEN_LOADED
                                 ? fmt::format("requests by {}, which it has loaded,", library)
                                 : fmt::format("its requests by {}", what);
      found.push_back({.pid = process->pid,
                       .program = program_of(definitions, *process),
                       .reason = by + " pass no hook; --layers +syscall records them",
                       .what = std::string(what)});
    }
  }
  return found;
}

std::vector<NotCovered> untraced_interpreters(const Definitions& definitions) {
  std::vector<NotCovered> found;
  for (const auto& process : definitions.processes()) {
    const std::string_view reason = definitions.own_meta(*process, "reason:python");
    if (reason.empty()) continue;
    found.push_back({.pid = process->pid,
                     .program = program_of(definitions, *process),
                     .reason = escape_invalid_utf8(reason),
                     .what = "functions of Python"});
  }
  return found;
}

std::vector<NotCovered> unseen_bytes(const Definitions& definitions, const SummaryTable& summary,
                                     const Strings& strings, const Manifest& manifest) {
  std::vector<NotCovered> found;
  if (!is_recorded(manifest, "pagecache")) add_mapped(definitions, summary, strings, found);
  if (!can_compare(manifest, summary, strings)) return found;
  Lives lives = lives_of(definitions, summary, strings);
  add_recorders_count(manifest, lives);
  separate_children(lives);
  for (const auto& [pid, life] : lives) {
    const bool known = life.told == 0 || is_go(definitions, *life.last);
    const std::string reason = known ? "" : unseen_of(life);
    if (!reason.empty())
      found.push_back({.pid = pid,
                       .program = program_of(definitions, *life.last),
                       .reason = reason,
                       .what = kRawCalls});
  }
  return found;
}

}  // namespace fathom::trace
