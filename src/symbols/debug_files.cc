// SPDX-License-Identifier: MIT
// Where debug information lies that was split from its program: by build id in the usual folders,
// by the program's own link, in folders that the user names. Only files of this machine: a profiler
// that waits for a debuginfod server surprises its user. A file counts only if it says that it
// belongs to the program: names alone lie.
#include "symbols/debug_files.h"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/hex.h"

namespace fathom::symbols {
namespace {

constexpr char kSystemPlace[] = "/usr/lib/debug";

// Given folders first, then those of the container and of this system.
std::vector<std::string> folders(const ModuleId& id, const DebugPlaces& places) {
  std::vector<std::string> all = places.folders;
  if (!id.root.empty()) all.push_back(id.root + kSystemPlace);
  all.emplace_back(kSystemPlace);
  return all;
}

// Where people put files by hand, in given folders, and where debuginfod's clients do.
std::vector<std::string> named_paths(const ModuleId& id, const DebugPlaces& places,
                                     const std::string& build_id) {
  std::vector<std::string> paths;
  const std::string name(base_name(id.path));
  for (const std::string& place : places.folders) {
    if (!name.empty() && name != "." && name != "..") {
      paths.push_back(join_path(place, name));
      paths.push_back(join_path(place, name + ".debug"));
    }
    for (const char* kind : {"debuginfo", "executable"})
      paths.push_back(join_path(join_path(place, build_id), kind));
  }
  return paths;
}

struct DebugLink {
  std::string name;
  std::uint32_t checksum = 0;
};

std::optional<DebugLink> debug_link_of(const ElfFile& file) {
  const std::string_view bytes = file.content(".gnu_debuglink");
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::size_t at = (end + 4) & ~std::size_t{3};
  DebugLink link{std::string(bytes.substr(0, end)), 0};
  if (at > bytes.size() || bytes.size() - at < sizeof link.checksum) return std::nullopt;
  if (link.name.find('/') != std::string::npos) return std::nullopt;  // a name, not a way
  std::memcpy(&link.checksum, bytes.data() + at, sizeof link.checksum);
  return link;
}

std::vector<std::string> linked_paths(const DebugLink& link, const ModuleId& id,
                                      const DebugPlaces& places) {
  const std::string folder(dir_name(id.path));
  std::vector<std::string> paths;
  for (const std::string& place : places.folders) paths.push_back(join_path(place, link.name));
  paths.push_back(id.root + join_path(folder, link.name));
  paths.push_back(id.root + join_path(join_path(folder, ".debug"), link.name));
  for (const std::string& place : folders(id, places))
    paths.push_back(place + "/" + join_path(folder, link.name));
  return paths;
}

// By what both say of themselves; where neither has a build id, by the checksum of the link.
bool belongs(const ElfFile& debug, const std::string& build_id, const DebugLink& link) {
  const std::string its_id = debug.build_id();
  if (!build_id.empty() || !its_id.empty()) return its_id == build_id;
  return debug_link_checksum(debug.bytes_at(0, debug.size())) == link.checksum;
}

Result<ElfFile> find_linked(const ElfFile& module, const ModuleId& id, const DebugPlaces& places) {
  const std::optional<DebugLink> link = debug_link_of(module);
  if (!link) return Error{Code::kNotFound, "no debug link", ""};
  const std::string build_id = module.build_id();
  for (const std::string& path : linked_paths(*link, id, places)) {
    if (path == id.root + id.path) continue;
    Result<ElfFile> file = ElfFile::open(path);
    if (file && belongs(*file, build_id, *link)) return file;
  }
  return Error{Code::kNotFound, "no debug file", ""};
}

}  // namespace

// The CRC of zlib and of .gnu_debuglink.
std::uint32_t debug_link_checksum(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) * 0xedb88320U);
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t sum = 0xffffffffU;
  for (const char byte : bytes)
    sum = kTable[(sum ^ static_cast<unsigned char>(byte)) & 255U] ^ (sum >> 8U);
  return ~sum;
}

Result<ElfFile> find_by_build_id(const std::string& build_id, const ModuleId& id,
                                 const DebugPlaces& places) {
  const std::string text = to_hex(build_id);
  if (build_id.size() < 2) return Error{Code::kNotFound, "no build id", ""};
  for (const std::string& place : folders(id, places)) {
    const std::string path = place + "/.build-id/" + text.substr(0, 2) + "/" + text.substr(2);
    for (const char* ending : {".debug", ""}) {
      Result<ElfFile> file = ElfFile::open(path + ending);
      if (file && file->build_id() == build_id) return file;
    }
  }
  for (const std::string& path : named_paths(id, places, text)) {
    Result<ElfFile> file = ElfFile::open(path);
    if (file && file->build_id() == build_id) return file;
  }
  return Error{Code::kNotFound, "no debug file", ""};
}

Result<ElfFile> find_debug_file(const ElfFile& module, const ModuleId& id,
                                const DebugPlaces& places) {
  Result<ElfFile> found = find_by_build_id(module.build_id(), id, places);
  return found ? std::move(found) : find_linked(module, id, places);
}

Result<ElfFile> find_shared_debug(const ElfFile& debug, const ModuleId& id,
                                  const DebugPlaces& places) {
  const std::string_view bytes = debug.content(".gnu_debugaltlink");
  const std::size_t end = bytes.find('\0');
  if (bytes.empty()) return Error{Code::kInvalid, "no shared debug information", ""};
  if (end == std::string_view::npos) return Error{Code::kNotFound, "a damaged link", ""};
  return find_by_build_id(std::string(bytes.substr(end + 1)), id, places);
}

}  // namespace fathom::symbols
