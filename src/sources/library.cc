// SPDX-License-Identifier: MIT
#include "sources/library.h"

#include "base/files.h"

namespace fathom::sources {

Result<std::string> find_library() {
  FATHOM_ASSIGN(const std::string program, real_path("/proc/self/exe"));
  const std::string folder(dir_name(program));
  for (const char* place : {"", "../lib"}) {
    const std::string path = join_path(join_path(folder, place), "libfathom.so");
    if (!path_exists(path)) continue;
    FATHOM_ASSIGN(std::string library, real_path(path));
    // The loader splits LD_PRELOAD at these, and has no way to quote them.
    if (library.find_first_of(" :\n\t") != std::string::npos) {
      return Error{
          Code::kUnsupported,
          "the path of " + library + " holds a space or a colon, which LD_PRELOAD cannot carry",
          "install fathom elsewhere"};
    }
    return library;
  }
  return Error{Code::kNotFound,
               "there is no libfathom.so in " + folder + " or " + folder + "/../lib",
               "install it beside the program"};
}

Availability probe_library() {
  const Result<std::string> library = find_library();
  if (library) return {};
  return {.available = false, .reason = library.error().message, .fix = ""};
}

}  // namespace fathom::sources
