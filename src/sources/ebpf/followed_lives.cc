// SPDX-License-Identifier: MIT
// A process has a row for each program that it was, and a thread has one for each program of its
// process. What the records cannot say (rank, command of one that was there before us) is read in
// /proc, as soon as its record is here: it may be gone a moment later.
#include "sources/ebpf/followed_lives.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"
#include "trace/recording/processes.h"
#include "wire/rank.h"

namespace fathom::sources::ebpf {
namespace {

constexpr std::size_t kMostEnded = 1U << 16U;  // taken every second

// The words of a command line; without arguments the first of them alone.
std::string words_of(const fathom_process_record& record, bool arguments) {
  std::string text(record.command, std::min<std::size_t>(record.bytes, FATHOM_BPF_COMMAND));
  if (!arguments) text.resize(std::min(text.find('\0'), text.size()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return escape_invalid_utf8(text);
}

// (One that lives for a moment only may be gone.)
std::int64_t rank_of(std::uint32_t process) {
  const Result<std::string> text = read_file("/proc/" + std::to_string(process) + "/environ");
  return text ? rank_in(*text) : trace::kNull;
}

}  // namespace

std::int64_t rank_in(std::string_view environment) {
  for (const std::string_view name : {FATHOM_RANK_VARIABLES}) {
    for (const std::string_view variable : split(environment, '\0')) {
      const std::size_t equals = variable.find('=');
      if (equals == std::string_view::npos || variable.substr(0, equals) != name) continue;
      if (const Result<std::int64_t> rank = parse_int(variable.substr(equals + 1))) return *rank;
    }
  }
  return trace::kNull;
}

bool FollowedLives::has_room(std::size_t waiting) {
  if (waiting < kMostEnded) return true;
  ++overflow_;
  return false;
}

void FollowedLives::finish_process(trace::ProcessRow row) {
  if (has_room(ended_.size())) ended_.push_back(std::move(row));
}

void FollowedLives::finish_thread(ThreadLife& life) {
  const auto process = alive_.find(static_cast<std::uint32_t>(life.row.pid));
  if (process != alive_.end()) {
    if (life.row.tid == life.row.pid || life.row.name.empty())
      life.row.name = process->second.row.name;
    life.row.rank = process->second.row.rank;
  }
  if (has_room(ended_threads_.size())) ended_threads_.push_back(life.row);
}

void FollowedLives::begin(const fathom_process_record& record, Life& life) {
  life.since = record.at;
  life.row.pid = record.pid;
  life.row.ppid = record.parent;
  life.row.nspid = record.nspid != 0 ? record.nspid : trace::kNull;
  life.row.start = time(record.at);
}

void FollowedLives::begin_thread(const fathom_process_record& record) {
  ThreadLife& life = threads_[{record.pid, record.tid}];
  life = {};
  life.row.pid = record.pid;
  life.row.tid = record.tid;
  life.row.start = time(record.at);
}

bool FollowedLives::end_thread(const fathom_process_record& record) {
  const bool is_known = threads_.contains({record.pid, record.tid});
  // Nobody knows since when it was there.
  if (!is_known && record.since == 0) return false;
  if (!is_known) begin_thread(record);
  const auto found = threads_.find({record.pid, record.tid});
  trace::ThreadRow& row = found->second.row;
  if (!is_known) {
    const auto process = alive_.find(record.pid);
    const std::int64_t first = process == alive_.end() ? 0 : process->second.row.start;
    row.start = std::max(time(record.since), first);
  }
  row.end = time(record.at);
  row.name = words_of(record, true);
  finish_thread(found->second);
  threads_.erase(found);
  return is_known;
}

// It execs, and goes on as one thread; or it is not followed any more.
void FollowedLives::end_threads_of(std::uint32_t process, std::int64_t at) {
  auto one = threads_.lower_bound({process, 0});
  while (one != threads_.end() && one->first.first == process) {
    one->second.row.end = at;
    finish_thread(one->second);
    one = threads_.erase(one);
  }
}

void FollowedLives::forked(const fathom_process_record& record) {
  begin_thread(record);
  if (record.pid != record.tid) {
    if (const auto found = alive_.find(record.pid); found != alive_.end()) ++found->second.threads;
    return;
  }
  Life life;
  begin(record, life);
  if (const auto parent = alive_.find(record.parent); parent != alive_.end()) {
    // Until it execs it is the same program.
    life.row.name = parent->second.row.name;
    life.row.command = parent->second.row.command;
    life.row.rank = parent->second.row.rank;
  }
  alive_[record.pid] = std::move(life);
}

void FollowedLives::execed(const fathom_process_record& record) {
  Life& life = alive_[record.pid];
  const bool was_known = life.row.pid != trace::kNull;
  if (was_known) {
    end_threads_of(record.pid, time(record.at) - 1);  // no moment belongs to both
    life.row.end = time(record.at);
    finish_process(std::exchange(life.row, {}));
  }
  life.threads = 1;
  life.takes = 0;
  begin(record, life);
  begin_thread(record);
  life.row.command = words_of(record, !no_command_);
  life.row.name =
      base_name(std::string_view(life.row.command).substr(0, life.row.command.find(' ')));
  const std::int64_t rank = rank_of(record.pid);
  if (rank != trace::kNull) life.row.rank = rank;  // else its parent's
}

// A process has ended when the last of its threads has that was seen to begin.
void FollowedLives::exited(const fathom_process_record& record) {
  const bool was_counted = end_thread(record);
  const auto found = alive_.find(record.pid);
  if (found == alive_.end()) return;
  Life& life = found->second;
  life.row.end = time(record.at);
  life.row.exit = trace::exit_of_wait_status(record.status);
  if (!was_counted || --life.threads > 0) return;
  finish_process(std::move(life.row));
  alive_.erase(found);
}

void FollowedLives::joined(const fathom_process_record& record) {
  begin_thread(record);
  const auto [found, is_new] = alive_.try_emplace(record.pid);
  Life& life = found->second;
  if (!is_new) {
    ++life.threads;
    return;
  }
  begin(record, life);
  life.row.name = words_of(record, !no_command_);
  life.row.rank = rank_of(record.pid);
  fathom_process_record whole{};
  const Result<std::string> command = read_file("/proc/" + std::to_string(record.pid) + "/cmdline");
  if (command) {
    whole.bytes = static_cast<std::uint32_t>(command->copy(whole.command, FATHOM_BPF_COMMAND));
    life.row.command = words_of(whole, !no_command_);
  }
  if (life.row.command.empty()) life.row.command = life.row.name;  // a thread of the kernel
}

std::vector<Followed> FollowedLives::alive() const {
  std::vector<Followed> all;
  for (const auto& [pid, life] : alive_)
    all.push_back({static_cast<pid_t>(pid), static_cast<std::int64_t>(life.since)});
  return all;
}

void FollowedLives::forget(pid_t process) {
  const auto found = alive_.find(static_cast<std::uint32_t>(process));
  if (found == alive_.end()) return;
  end_threads_of(found->first, trace::kNull);
  ended_.push_back(std::move(found->second.row));
  alive_.erase(found);
}

// (The word that one has ended may be lost; and what has ended may wait for us to take notice.)
bool FollowedLives::anybody_lives() const {
  return std::ranges::any_of(alive_, [](const auto& one) {
    const Result<std::string> stat = read_file("/proc/" + std::to_string(one.first) + "/stat");
    const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
    return name_end != std::string::npos && (*stat)[name_end + 2] != 'Z';
  });
}

void FollowedLives::tell_of_long_lived() {
  for (auto& [pid, life] : alive_) {
    if (++life.takes == 2) ended_.push_back(life.row);
  }
  for (auto& [ids, life] : threads_) {
    if (++life.takes == 2) finish_thread(life);
  }
}

void FollowedLives::tell_of_all() {
  for (auto& [ids, life] : threads_) finish_thread(life);
  for (const auto& [pid, life] : alive_) ended_.push_back(life.row);
}

void FollowedLives::begin_anew(std::int64_t shift) {
  for (auto& [pid, life] : alive_) {
    life.row.start = std::max<std::int64_t>(0, life.row.start - (shift - shift_));
    life.takes = 0;
  }
  for (auto& [ids, life] : threads_) {
    life.row.start = std::max<std::int64_t>(0, life.row.start - (shift - shift_));
    life.takes = 0;
  }
  shift_ = shift;
}

// Threads first: each has the name and the rank of its process.
void FollowedLives::finish() {
  for (auto& [ids, life] : threads_) finish_thread(life);
  threads_.clear();
  for (auto& [pid, life] : alive_) ended_.push_back(std::move(life.row));
  alive_.clear();
}

void FollowedLives::take(trace::Lives& lives) {
  std::ranges::move(ended_, std::back_inserter(lives.processes));
  std::ranges::move(ended_threads_, std::back_inserter(lives.threads));
  ended_.clear();
  ended_threads_.clear();
}

}  // namespace fathom::sources::ebpf
