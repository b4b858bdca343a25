// SPDX-License-Identifier: MIT
// Judges whether the return of a function may be probed. The whole program decides, as an exception
// unwinds through functions that have no tables of their own.
#include "sources/ebpf/returns.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "sources/ebpf/libraries.h"

namespace fathom::sources::ebpf {
namespace {

using symbols::StackFacts;
using symbols::StackUse;

constexpr std::string_view kGo = "Go";

// Functions of the C library that call nobody back, and in which no thread is cancelled: whatever
// the program is, nothing passes through them.
bool calls_nobody(std::string_view library, std::string_view name) {
  if (library.starts_with("libm.") || library.starts_with("libmvec.")) return true;
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.starts_with("libc_")) name.remove_prefix(5);
  constexpr std::string_view kBegins[] = {
      "mem", "str", "wmem", "wcs", "pthread_mutex_", "pthread_rwlock_", "pthread_spin_"};
  constexpr std::string_view kNames[] = {"malloc", "calloc",  "realloc",           "reallocarray",
                                         "free",   "cfree",   "posix_memalign",    "aligned_alloc",
                                         "valloc", "pvalloc", "malloc_usable_size"};
  return std::ranges::any_of(kBegins, [&](auto begin) { return name.starts_with(begin); }) ||
         std::ranges::find(kNames, name) != std::end(kNames);
}

std::string words_of(const StackFacts& facts, std::string_view file) {
  if (facts.why == kGo) return "Go moves its stacks";
  const std::string of = std::string(base_name(file)) + " has " + facts.why;
  return facts.use == StackUse::kSwitches ? "stacks may be switched: " + of
                                          : "exceptions may pass through: " + of;
}

// $ORIGIN is the file's own folder.
std::vector<std::string> places_of(const StackFacts& facts, const std::string& file) {
  std::vector<std::string> places = facts.places;
  for (std::string& place : places) {
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      if (place.starts_with(word)) place.replace(0, word.size(), dir_name(file));
    }
  }
  return places;
}

std::vector<std::string> preloaded() {
  const char* text = std::getenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe)
  std::string names = text == nullptr ? "" : text;
  std::ranges::replace(names, ' ', ':');
  std::vector<std::string> libraries;
  for (const std::string_view name : split(names, ':'))
    if (!name.empty()) libraries.emplace_back(name);
  return libraries;
}

}  // namespace

const Result<StackFacts>& StackJudge::facts_of(const std::string& file) {
  const auto known = facts_.find(file);
  if (known != facts_.end()) return known->second;
  return facts_.emplace(file, symbols::stack_facts_of(file)).first->second;
}

// Of the file alone.
std::optional<std::string> StackJudge::trouble_of(const std::string& file) {
  const Result<StackFacts>& facts = facts_of(file);
  if (!facts) return "nothing is known of " + file;
  if (is_of_c_library(facts->name)) return std::nullopt;
  if (facts->use != StackUse::kPlain) return words_of(*facts, file);
  if (facts->loads_others)
    return std::string(base_name(file)) + " loads libraries that are not known before";
  return std::nullopt;
}

std::optional<std::string> StackJudge::trouble_of_program(const std::string& file) {
  if (const auto known = programs_.find(file); known != programs_.end()) return known->second;
  std::optional<std::string> trouble;
  std::vector<std::string> waiting = {file};
  std::set<std::string> seen = {file};
  const auto add = [&](const std::string& name, const std::vector<std::string>& places) {
    const Result<std::string> path = find_file(name, places);
    if (!path && !trouble) trouble = "its library " + name + " was not found";
    if (path && seen.insert(*path).second) waiting.push_back(*path);
  };
  for (const std::string& name : preloaded()) add(name, {});
  while (!waiting.empty() && !trouble) {
    const std::string one = waiting.back();
    waiting.pop_back();
    trouble = trouble_of(one);
    const Result<StackFacts>& facts = facts_of(one);
    if (trouble || !facts) continue;
    for (const std::string& name : facts->needs) add(name, places_of(*facts, one));
  }
  programs_.emplace(file, trouble);
  return trouble;
}

Judgement StackJudge::judge(const std::string& file, const std::string& function) {
  const Result<StackFacts>& facts = facts_of(file);
  if (!facts) return {Times::kUnknown, "nothing is known of its file"};
  if (is_of_c_library(facts->name) && calls_nobody(facts->name, function))
    return {Times::kKnown, ""};
  const std::optional<std::string> trouble =
      facts->is_program ? trouble_of_program(file) : trouble_of(file);
  if (trouble) return {Times::kUnknown, *trouble, facts->why == kGo};
  if (facts->is_program) return {Times::kKnown, ""};
  return {Times::kInPlainPrograms, "exceptions of the program that calls it may pass through"};
}

}  // namespace fathom::sources::ebpf
