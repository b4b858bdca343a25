// SPDX-License-Identifier: MIT
// Which file's code lies at which address of which process, as far as the kernel told until now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "symbols/overlay_map.h"
#include "symbols/unwind/unwinder.h"

namespace fathom::sources {

// A file with code, as it was when it was mapped. Two files of one path, one after the other,
// differ by their build ids.
struct Module {
  std::string path;
  std::string build_id;  // its bytes; "" where it has none
  std::string kept;      // a way to the file itself; "": by its path
  // It has no build id and took the place of another one: nobody can tell later which is meant.
  bool is_in_anothers_place = false;
};

// Files stay where they are as long as this does. One thread at a time.
class ProcessMaps {
 public:
  struct Region {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::uint64_t offset = 0;  // in the file
    const Module* module = nullptr;
  };
  struct Space {
    symbols::OverlayMap<Region> regions;
    std::shared_ptr<symbols::AddressSpace> code;  // made of these by who needs it (UnwindTables)
    std::uint64_t changes = 0;                    // of regions
  };
  struct Place {
    const Module* module = nullptr;
    std::uint64_t offset = 0;
  };

  // The module of that path and build id, made where it is new; nullptr: there is no room for more.
  Module* module(std::string_view path, std::string_view build_id,
                 bool is_in_anothers_place = false);
  // What lay there before is gone. false: there is no room for more.
  bool mapped(std::int32_t pid, const Region& region);
  void forked(std::int32_t parent, std::int32_t child);
  // Another program: what was mapped is gone.
  void cleared(std::int32_t pid) { processes_.erase(pid); }
  // nullptr: nothing is known of it.
  [[nodiscard]] Space* space(std::int32_t pid) const;
  [[nodiscard]] std::optional<Place> find(std::int32_t pid, std::uint64_t address) const;

 private:
  Space& own(std::int32_t pid);

  // Children share their parent's until one of them changes: most fork and exec at once.
  std::unordered_map<std::int32_t, std::shared_ptr<Space>> processes_;
  std::map<std::tuple<std::string, std::string, bool>, Module> modules_;
};

}  // namespace fathom::sources
