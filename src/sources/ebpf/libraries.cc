// SPDX-License-Identifier: MIT
// An approximation of ld.so's search, good enough to find libc by the name that a user writes.
// ld.so.cache is not read.
#include "sources/ebpf/libraries.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/files.h"
#include "base/text.h"

namespace fathom::sources::ebpf {
namespace {

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    for (const std::string_view folder : split(path, ':'))
      if (!folder.empty()) folders.emplace_back(folder);
  }
#if defined(__aarch64__)
  constexpr const char* kTriplet = "aarch64-linux-gnu";
#else
  constexpr const char* kTriplet = "x86_64-linux-gnu";
#endif
  for (const char* root : {"/lib", "/usr/lib", "/usr/local/lib"}) {
    folders.push_back(join_path(root, kTriplet));
    folders.emplace_back(root);
    folders.push_back(std::string(root) + "64");
  }
  return folders;
}

}  // namespace

Result<std::string> find_file(const std::string& name, const std::vector<std::string>& places) {
  if (name.find('/') != std::string::npos) return real_path(name);
  std::vector<std::string> folders = places;
  std::ranges::move(library_folders(), std::back_inserter(folders));
  for (const std::string& folder : folders) {
    const std::string path = join_path(folder, name);
    if (path_exists(path)) return real_path(path);
  }
  return Error{Code::kNotFound, "there is no library " + name, "name the file by its path"};
}

bool is_of_c_library(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "libc.so.6",  "libm.so.6",    "libmvec.so.1",   "libdl.so.2",  "libpthread.so.0",
      "librt.so.1", "libutil.so.1", "libresolv.so.2", "libanl.so.1", "libc.so"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("ld-linux") ||
         name.starts_with("ld-musl") || name.starts_with("libc.musl-");
}

}  // namespace fathom::sources::ebpf
