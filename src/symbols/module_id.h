// SPDX-License-Identifier: MIT
// How a sampled address names its code: by a file and the place in it, which later readers can look
// at, on another machine too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::symbols {

// Bytes of a file that are loaded to an address of the file's own.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool code = false;

  bool operator==(const Segment&) const = default;
};

// A file as a sampled process had it. By value: readers on other machines look for one that fits.
struct ModuleId {
  std::string path;       // as the process had it mapped
  std::string build_id;   // its bytes, as the kernel told; "": not known, any file will do
  std::string root;       // before the path: "/proc/PID/root" of a container; "": ours
  std::string kept = {};  // a way to the very file that ran (KeptFiles); "": none
  // As Module::segments() said where the file was; needed where only its debug file is left.
  std::vector<Segment> segments;
};

// Folders that are searched for debug files before those of the system (`--debug DIR`).
struct DebugPlaces {
  std::vector<std::string> folders;
  // The module's path is not believed: it may be that of another machine. Files are found by build
  // id, which they must have.
  bool by_build_id_alone = false;
};

}  // namespace fathom::symbols
