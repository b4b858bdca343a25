// SPDX-License-Identifier: MIT
// Numbers for hashes, in the order in which they come.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace fathom::analysis {

// One thread at a time. A code, and a pointer from known(), hold as long as this.
class Codes {
 public:
  // True where it is new.
  bool find(std::int64_t hash, std::uint32_t& code) {
    if (known_ && hash == last_hash_) {
      code = last_code_;
      return false;
    }
    const auto [found, fresh] = codes_.try_emplace(hash, static_cast<std::uint32_t>(codes_.size()));
    known_ = true;
    last_hash_ = hash;
    code = last_code_ = found->second;
    return fresh;
  }
  // Of one that is there.
  [[nodiscard]] const std::uint32_t* known(std::int64_t hash) const {
    const auto found = codes_.find(hash);
    return found == codes_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> codes_;
  std::int64_t last_hash_ = 0;
  std::uint32_t last_code_ = 0;
  bool known_ = false;
};

}  // namespace fathom::analysis
