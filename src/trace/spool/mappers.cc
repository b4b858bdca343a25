// SPDX-License-Identifier: MIT
// Reads /proc/PID/maps of all processes of this user. That is slow, so it is asked only when nobody
// else seems to be left. The device is not compared: maps and stat name it differently on overlays.
#include "trace/spool/mappers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/files.h"
#include "base/text.h"

namespace fathom::trace {
namespace {

constexpr std::size_t kInode = 4;  // the word of a line of maps

bool has_file(std::string_view maps, std::string_view inode) {
  return std::ranges::any_of(split(maps, '\n'), [&](std::string_view line) {
    if (!line.ends_with("/" FATHOM_RUN_FILE)) return false;
    const std::vector<std::string_view> words = split(line, ' ');
    return words.size() > kInode && words[kInode] == inode;
  });
}

bool is_of_this_user(const std::string& process) {
  struct stat facts {};
  return ::stat(process.c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
}

}  // namespace

bool is_mapped_by_others(const Spool& spool, const std::set<std::int64_t>& but,
                         const std::string& proc) {
  const Result<File> file = spool.files().read(FATHOM_RUN_FILE);
  struct stat header {};
  if (!file || ::fstat(file->fd(), &header) != 0) return false;
  const Result<std::vector<std::string>> names = list_dir(proc);
  if (!names) return false;
  const std::string inode = std::to_string(header.st_ino);
  return std::ranges::any_of(*names, [&](const std::string& name) {
    const Result<std::int64_t> pid = parse_int(name);
    if (!pid || *pid == ::getpid() || but.contains(*pid)) return false;
    const std::string process = join_path(proc, name);
    if (!is_of_this_user(process)) return false;
    const Result<std::string> maps = read_file(process + "/maps");
    return maps && has_file(*maps, inode);
  });
}

}  // namespace fathom::trace
