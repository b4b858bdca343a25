// SPDX-License-Identifier: MIT
// See record_paths.h. Names are any bytes but NUL and '/', and are shown as valid UTF-8.
#include "sources/ebpf/record_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "base/utf8.h"

namespace fathom::sources::ebpf {
namespace {

constexpr unsigned kMinorBits = 20;  // of a device's number, inside the kernel

// What is no file has its kind and the kernel's number in the place of a path.
constexpr std::string_view kPipe = "pipe [";
constexpr std::string_view kSocket = "socket [";
constexpr std::string_view kObject = "anon_inode [";

std::vector<std::string_view> components_of(const fathom_file_record& record) {
  std::vector<std::string_view> names;
  std::string_view rest(record.path, std::min<std::size_t>(record.bytes, sizeof record.path));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

// From the last to the first.
std::string joined(std::vector<std::string_view> names) {
  std::string path;
  std::ranges::reverse(names);
  for (const std::string_view name : names) path.append("/").append(name);
  return path;
}

// As a call named it: the first component is the text of the call, the others are the directory
// that it counts from. The kernel never resolved it for us, so it is normalised by its text alone.
std::string path_by_name(const fathom_file_record& record) {
  std::vector<std::string_view> names = components_of(record);
  if (names.empty()) return "";
  const std::string_view text = names.front();
  names.erase(names.begin());
  const std::string path = joined(std::move(names)).append("/").append(text);
  const Result<std::string> plain = absolute_path(path);
  return (record.cut != 0 ? "..." : "") + escape_invalid_utf8(plain ? *plain : path);
}

}  // namespace

std::string path_of(const fathom_file_record& record) {
  if (record.named != 0) return path_by_name(record);
  std::vector<std::string_view> names = components_of(record);
  if (names.empty()) {
    if (S_ISDIR(record.mode)) return "/";
    const std::string_view kind = S_ISFIFO(record.mode)   ? kPipe
                                  : S_ISSOCK(record.mode) ? kSocket
                                                          : kObject;
    return std::string(kind) + std::to_string(record.inode) + "]";
  }
  return (record.cut != 0 ? "..." : "") + escape_invalid_utf8(joined(std::move(names)));
}

bool is_channel(std::string_view path) {
  return path.starts_with(kPipe) || path.starts_with(kSocket) || path.starts_with(kObject);
}

std::string mount_point(std::uint32_t device, std::string_view mountinfo) {
  const std::string wanted = std::to_string(device >> kMinorBits) + ":" +
                             std::to_string(device & ((1U << kMinorBits) - 1));
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');  // id parent device root point
    if (words.size() > 4 && words[2] == wanted && words[3] == "/")
      return words[4] == "/" ? "" : std::string(words[4]);
  }
  return "";
}

}  // namespace fathom::sources::ebpf
