// SPDX-License-Identifier: MIT
// Asks this process's own loader which body an IFUNC stands for. That works for libraries that we
// have loaded as well (libc, libm), and is refused for others.
#include "sources/ebpf/chosen_code.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <memory>

#include "base/files.h"
#include "sources/ebpf/own_memory.h"

namespace fathom::sources::ebpf {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

std::string without_version(const std::string& name) { return name.substr(0, name.find('@')); }

void* find_symbol(void* library, const std::string& name) {
  const std::size_t at = name.find('@');
  if (at == std::string::npos) return ::dlsym(library, name.c_str());
  return ::dlvsym(library, name.substr(0, at).c_str(), name.substr(at + 1).c_str());
}

}  // namespace

Result<ChosenCode> ChosenCode::of(const std::string& file, const std::vector<std::string>& names) {
  const std::unique_ptr<void, CloseLibrary> library(
      ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD));
  struct stat facts {};
  if (!library || ::stat(file.c_str(), &facts) != 0)
    return Error{Code::kUnsupported, "its code is chosen when the library is loaded", ""};
  FATHOM_ASSIGN(const std::string maps, read_file("/proc/self/maps"));
  ChosenCode chosen;
  for (const std::string& name : names) {
    void* code = find_symbol(library.get(), name);
    if (code == nullptr) continue;
    const Result<MappedPlace> place = place_of(reinterpret_cast<std::uint64_t>(code), maps);
    if (place && place->inode == facts.st_ino) chosen.places_[name] = place->offset;
  }
  return chosen;
}

Result<std::uint64_t> ChosenCode::place(const std::string& name) const {
  const auto found = places_.find(name);
  if (found != places_.end()) return found->second;
  return Error{Code::kUnsupported, "its code is not in the file", ""};
}

std::vector<std::string> ChosenCode::same_as(const std::string& name) const {
  std::vector<std::string> others;
  const auto own = places_.find(name);
  if (own == places_.end()) return others;
  for (const auto& [other, place] : places_) {
    const bool is_new = others.empty() || others.back() != without_version(other);
    if (place == own->second && without_version(other) != without_version(name) && is_new)
      others.push_back(without_version(other));
  }
  return others;
}

}  // namespace fathom::sources::ebpf
