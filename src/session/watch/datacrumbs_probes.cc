// SPDX-License-Identifier: MIT
// DataCrumbs reads the kernel's headers to find functions. Here the header says which layer has
// what these functions do: names of functions change from kernel to kernel, and what they inline is
// not seen at all.
#include "session/watch/datacrumbs_probes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/files.h"

namespace fathom::session {
namespace {

constexpr std::pair<std::string_view, std::string_view> kHeaders[] = {
    {"syscalls.h", "syscall"}, {"pagemap.h", "pagecache"}, {"fs.h", "vfs"},   {"bio.h", "block"},
    {"blkdev.h", "block"},     {"shmem_fs.h", "fs"},       {"btrfs.h", "fs"}, {"iomap.h", "fs"}};

std::string layer_of_header(const std::string& file) {
  const auto found = std::ranges::find(kHeaders, base_name(file),
                                       &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kHeaders) ? "" : std::string(found->second);
}

// A path that is not on this machine; lists are written for others, too.
bool is_missing(const std::string& file) {
  return file.find('/') != std::string::npos && !path_exists(file);
}

ProbeMeaning of_program(const DatacrumbsProbe& probe) {
  if (probe.file.empty() || is_missing(probe.file)) return {.absent = probe.file};
  if (probe.probe == "usdt")
    return {.layer = "user", .function = "usdt:" + probe.file + ":" + probe.provider + ":*"};
  const std::string regex = probe.regex.empty() ? ".*" : probe.regex;
  return {
      .layer = "user", .function = probe.file + ":" + regex, .has_category = !probe.name.empty()};
}

ProbeMeaning of_kernel(const DatacrumbsProbe& probe) {
  if (probe.type == "ksym" || probe.type == "binary") {
    const std::string regex = probe.regex.empty() ? ".*" : probe.regex;
    return {.layer = "kernel", .function = "kernel:" + regex};
  }
  const std::string layer = layer_of_header(probe.file);
  return layer.empty() ? ProbeMeaning{.absent = probe.file} : ProbeMeaning{.layer = layer};
}

}  // namespace

ProbeMeaning meaning_of(const DatacrumbsProbe& probe) {
  if (probe.probe == "syscalls" || probe.probe == "custom") return {.layer = "syscall"};
  if (probe.probe == "uprobe" || probe.probe == "usdt") return of_program(probe);
  return of_kernel(probe);
}

}  // namespace fathom::session
