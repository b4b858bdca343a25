// SPDX-License-Identifier: MIT
// A child has its parent's code as it was when it was forked, and writes a file of its own only if
// it makes more.
#include "sources/perf/jit_names.h"

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"

namespace fathom::sources {
namespace {

std::uint64_t now() { return static_cast<std::uint64_t>(now_monotonic_ns()); }

}  // namespace

bool is_memory(std::string_view mapping) {
  constexpr std::string_view kBegin[] = {"//anon",  "[anon",     "[heap]",      "[stack",
                                         "/memfd:", "/dev/zero", "anon_inode:", "/SYSV"};
  return std::ranges::any_of(kBegin,
                             [&](std::string_view begin) { return mapping.starts_with(begin); });
}

bool is_jitdump(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

void JitNames::began(std::int32_t pid, std::int64_t time) {
  ended(pid);
  processes_[pid].started = time;
}

void JitNames::forked(std::int32_t parent, std::int32_t child, std::int64_t time) {
  began(child, time);
  const auto found = processes_.find(parent);
  if (found == processes_.end()) return;
  Process& made = processes_[child];
  made.parents = found->second.code ? found->second.code : found->second.parents;
  made.forked_at = static_cast<std::uint64_t>(time);
}

JitNames::Process& JitNames::process(std::int32_t pid) {
  Process& process = processes_[pid];
  if (!process.code) {
    process.code = std::make_shared<Code>(symbols::JitPlace::of_process(pid, process.started));
    process.code->refresh(now());
  }
  return process;
}

void JitNames::mapped_dump(std::int32_t pid, std::string_view path, std::uint64_t inode) {
  process(pid).code->add_dump(std::string(path), inode);
}

void JitNames::ended(std::int32_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  if (found->second.code) found->second.code->end(now());
  processes_.erase(found);
}

void JitNames::stop() {
  for (auto& [pid, process] : processes_)
    if (process.code) process.code->end(now());
}

void JitNames::refresh() {
  for (auto& [pid, process] : processes_)
    if (process.code) process.code->refresh(now());
}

JitNames::Answer JitNames::find(std::int32_t pid, std::uint64_t address, std::uint64_t time) {
  Process& asked = process(pid);
  Answer answer = asked.code->find(address, time);
  if (answer.kind == Answer::Kind::kName || !asked.parents) return answer;
  Answer parents = asked.parents->find(address, asked.forked_at);
  return parents.kind == Answer::Kind::kName ? parents : answer;
}

std::uint32_t JitNames::ask_later(std::int32_t pid, std::uint64_t address, std::uint64_t time) {
  const std::shared_ptr<Code>& code = process(pid).code;
  const auto next = first_number_ + static_cast<std::uint32_t>(questions_.size());
  const auto [place, is_new] = numbers_.try_emplace({code.get(), code->version(), address}, next);
  if (is_new) questions_.push_back({code, address, time, time});
  Question& question = questions_[place->second - first_number_];
  question.last = std::max(question.last, time);
  return place->second;
}

// The same function at both times, or none: the memory may have been used again between them.
JitNames::Answer JitNames::find_again(std::uint32_t number) const {
  const Question& question = questions_[number - first_number_];
  Answer first = question.code->find(question.address, question.first);
  const Answer last = question.code->find(question.address, question.last);
  if (first.kind == Answer::Kind::kLater || last.kind == Answer::Kind::kLater)
    return {.kind = Answer::Kind::kLater};
  return first.function == last.function ? first : Answer{};
}

void JitNames::forget_numbers() {
  first_number_ += static_cast<std::uint32_t>(questions_.size());
  questions_.clear();
  numbers_.clear();
}

}  // namespace fathom::sources
