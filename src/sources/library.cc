// SPDX-License-Identifier: MIT
// Finds libfathom.so beside the program and tries it in a child process, so that `doctor` reports
// the loader's own words and not a guess.
#include "sources/library.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/privilege.h"
#include "base/text.h"

namespace fathom::sources {
namespace {

std::string name_for(std::string_view layer) {
  if (layer == kAlnairLogs) return "libpfinterpose.so";
  if (layer == kHeapAndAlnairLogs) return "libpfinterpose_heap.so";
  return layer == kHeapLayer ? "libfathom_heap.so" : "libfathom.so";
}

// Without /proc, as it was called.
Result<std::string> own_path() {
  Result<std::string> path = real_path("/proc/self/exe");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel hands it over
  const auto* called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return path || called == nullptr ? std::move(path) : real_path(called);
}

// The line that brings a library which lies elsewhere.
std::string link_line(const std::string& name) {
  const Result<std::string> program = own_path();
  const std::string found = find_elsewhere(name);
  if (!program || found.empty()) return "";
  const std::string folder(dir_name(*program));
  const std::string line = "ln -sf " + found + " " + join_path(folder, name);
  return access(folder.c_str(), W_OK) == 0 ? line : as_root(line);
}

// Upwards until another file system begins.
std::string mount_point_of(std::string path) {
  struct stat here {};
  struct stat above {};
  while (path != "/" && stat(path.c_str(), &here) == 0) {
    const std::string parent(dir_name(path));
    if (stat(parent.c_str(), &above) != 0 || above.st_dev != here.st_dev) break;
    path = parent;
  }
  return path;
}

// Why a library that is there cannot be loaded, where a line to type changes it.
// The loader's words are shown as they are, unless something is known that changes it.
Availability obstacle(const std::string& library, const std::string& words) {
  Availability state{.available = false, .reason = words, .fix = ""};
  struct statvfs place {};
  if (access(library.c_str(), R_OK) != 0) {
    state.reason = library + " cannot be read by this user";
    state.fix = as_root("chmod a+r " + library);
  } else if (statvfs(library.c_str(), &place) == 0 && (place.f_flag & ST_NOEXEC) != 0) {
    state.reason = library + " is on a file system that is mounted noexec";
    state.fix = as_root("mount -o remount,exec " + mount_point_of(library));
  } else if (const std::string line = link_line(name_for({})); !line.empty()) {
    state.fix = line;
  }
  return state;
}

// What the loader says when a child loads the library; "" when it does.
std::string loader_words(const std::string& library) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("FATHOM_OUT");  // NOLINT(concurrency-mt-unsafe): there is no other thread
    const bool loaded = dlopen(library.c_str(), RTLD_NOW) != nullptr;
    const char* words = loaded ? "" : dlerror();  // NOLINT(concurrency-mt-unsafe)
    (void)!write(to.get(), words, std::strlen(words));
    _exit(0);
  }
  to.reset();
  std::array<char, 512> text{};
  const ssize_t length = child > 0 ? read(from.get(), text.data(), text.size()) : 0;
  if (child > 0) waitpid(child, nullptr, 0);
  const std::string words(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return words.substr(0, words.find('\n'));
}

}  // namespace

std::string find_elsewhere(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  std::vector<std::string> folders = {"/usr/local/lib", "/usr/lib"};
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    if (!folder.starts_with('/')) continue;
    folders.emplace_back(folder);
    folders.push_back(join_path(folder, "../lib"));
  }
  for (const std::string& folder : folders) {
    const Result<std::string> found = real_path(join_path(folder, name));
    if (found) return *found;
  }
  return "";
}

Result<std::string> find_library(std::string_view layer) {
  const std::string name = name_for(layer);
  FATHOM_ASSIGN(const std::string program, own_path());
  const std::string folder(dir_name(program));
  for (const char* place : {"", "../lib"}) {
    const std::string path = join_path(join_path(folder, place), name);
    if (!path_exists(path)) continue;
    FATHOM_ASSIGN(std::string library, real_path(path));
    // The loader splits LD_PRELOAD at these, and has no way to quote them.
    if (library.find_first_of(" :\n\t") != std::string::npos) {
      return Error{Code::kUnsupported,
                   "the path of " + library +
                       " contains a space or a colon, which LD_PRELOAD cannot pass on",
                   "install fathom elsewhere"};
    }
    return library;
  }
  return Error{Code::kNotFound,
               "there is no " + name + " in " + folder + " or " + folder + "/../lib",
               "install it beside the program"};
}

Availability probe_library(std::string_view layer) {
  const Result<std::string> library = find_library(layer);
  if (library) return {};
  const bool absent = library.error().code == Code::kNotFound;
  return {.available = false,
          .reason = library.error().message,
          .fix = absent ? link_line(name_for(layer)) : std::string()};
}

Availability try_library() {
  Availability state = probe_library();
  if (!state.available) return state;
  const Result<std::string> library = find_library();
  const std::string words = loader_words(*library);
  return words.empty() ? state : obstacle(*library, words);
}

}  // namespace fathom::sources
