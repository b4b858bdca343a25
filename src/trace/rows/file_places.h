// SPDX-License-Identifier: MIT
// Where descriptors stand in their files. A position belongs to an open file and not to its name:
// two readers of one file each go on where they were. A fixed number of places: who finds his taken
// is as one who has just opened the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom::trace {

// Of args: somebody else than the calls of this descriptor may have moved the file's position.
inline constexpr char kPositionKey[] = "position";
inline constexpr char kMovedElsewhere[] = "shared";

// Where one descriptor stands, by the calls that were seen.
struct FilePlace {
  std::int64_t stop = 0;  // the end of the last call
  std::int64_t gap = 0;   // between that and the one before
  std::int64_t farthest = 0;
  bool is_new = true;  // nothing was moved yet
};

// A descriptor as one thread sees it, in one direction.
struct PlaceKey {
  std::uint64_t process = 0;
  std::uint32_t thread = 0;
  std::int32_t fd = 0;
  std::uint32_t file = 0;
  bool writes = false;
};

// Owned by one decoder. Never grows, and nothing fails.
class FilePlaces {
 public:
  FilePlace& of(const PlaceKey& key) {
    const std::uint64_t hash = hash_of(key);
    Slot* oldest = nullptr;
    for (std::size_t i = 0; i < kWays; i++) {
      Slot& slot = slots_[(hash + i) % kSlots];
      if (slot.hash == hash) {
        slot.used = ++uses_;
        return slot.place;
      }
      if (oldest == nullptr || slot.used < oldest->used) oldest = &slot;
    }
    *oldest = {.hash = hash, .used = ++uses_, .place = {}};
    return oldest->place;
  }

  // The file was opened under this descriptor.
  void open(PlaceKey key) {
    for (const bool writes : {false, true}) {
      key.writes = writes;
      const std::uint64_t hash = hash_of(key);
      for (std::size_t i = 0; i < kWays; i++) {
        Slot& slot = slots_[(hash + i) % kSlots];
        if (slot.hash == hash) slot = {};
      }
    }
  }

 private:
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::size_t kWays = 8;

  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;
    FilePlace place;
  };

  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  }
  static std::uint64_t hash_of(const PlaceKey& key) {
    const std::uint64_t who = mixed(key.process + (key.writes ? 1 : 0)) + key.thread;
    const auto fd = static_cast<std::uint32_t>(key.fd);
    return mixed(mixed(who) ^ (std::uint64_t{key.file} << 32 | fd)) | 1;  // 0: nobody's
  }

  std::array<Slot, kSlots> slots_{};
  std::uint64_t uses_ = 0;
};

}  // namespace fathom::trace
