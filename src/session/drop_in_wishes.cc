// SPDX-License-Identifier: MIT
// Wishes are read from a private place and never from the spool, because whoever can write the
// spool could otherwise choose files for us to overwrite.
#include "session/drop_in_wishes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "base/files.h"
#include "base/own_file.h"
#include "base/text.h"
#include "session/private_places.h"
#include "trace/spool/spool.h"
#include "wire/drop_in.h"

namespace fathom::session {
namespace {

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto written = std::to_chars(digits.begin(), digits.end(), number, 16);
  return {digits.data(), written.ptr};
}

// "" where the spool is not one that this user alone can write to.
std::string name_of(const std::string& directory) {
  const std::string path = join_path(directory, trace::kSpoolDirectory);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return "";
  if (facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "";
  const Result<trace::Spool> spool = trace::Spool::open(path);
  if (!spool) return "";
  return spool->run_id() + "-" + hex(facts.st_dev) + "-" + hex(facts.st_ino);
}

}  // namespace

DropInWishes DropInWishes::of(const std::string& directory) {
  DropInWishes wishes;
  const std::string name = name_of(directory);
  if (name.empty()) return wishes;
  for (const std::string& place : private_places()) {
    wishes.stem_ = join_path(place, name);
    wishes.read();
    if (wishes.any()) return wishes;
  }
  wishes.stem_.clear();
  return wishes;
}

void DropInWishes::read() {
  const Result<std::string> text =
      read_private_file(stem_ + FATHOM_WISHES_SUFFIX, FATHOM_WISHES_MAX);
  if (!text) return;
  for (const std::string_view wish : split(*text, '\0')) {
    if (!wish.empty()) wishes_.emplace(wish);
  }
}

bool DropInWishes::hidden() const { return wishes_.contains(FATHOM_WISH_HIDDEN); }

bool DropInWishes::holds(std::string_view drop_in, std::string_view log) {
  if (stem_.empty() || log.empty()) return false;
  const std::string wish = std::string(drop_in) + " " + std::string(log);
  if (!wishes_.contains(wish)) read();
  return wishes_.contains(wish);
}

std::string DropInWishes::path_for(std::string_view name) const {
  return stem_.empty() ? "" : stem_ + "." + std::string(name);
}

void DropInWishes::remove() const {
  if (stem_.empty()) return;
  for (const char* suffix : {FATHOM_WISHES_SUFFIX, ".dftracer", ".alnair"})
    ::unlink((stem_ + suffix).c_str());
}

}  // namespace fathom::session
