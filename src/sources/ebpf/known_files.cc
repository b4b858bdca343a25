// SPDX-License-Identifier: MIT
// Bounds the memory for paths, in total and for each user, since any user can make up names without
// end. What has no room becomes "other files" and is counted.
#include "sources/ebpf/known_files.h"

#include "sources/ebpf/shared.h"
#include "trace/rows/summary.h"

namespace fathom::sources::ebpf {

bool KnownFiles::fits(std::size_t bytes, std::uint32_t user) const {
  const auto own = of_users_.find(user);
  const std::size_t used = own == of_users_.end() ? 0 : own->second;
  return bytes_ + bytes <= most_ && used + bytes <= most_of_user_;
}

void KnownFiles::add(std::uint32_t number, std::string path, std::uint32_t user,
                     std::uint32_t before) {
  erase(number);
  if (before != 0) newly_replaced_.push_back(before);
  File file{.path = std::move(path), .user = user};
  if (fits(file.path.size(), user)) {
    bytes_ += file.path.size();
    of_users_[user] += file.path.size();
  } else {
    ++nameless_;
    file.path = std::string();
  }
  file.path.shrink_to_fit();
  files_.emplace(number, std::move(file));
}

const std::string* KnownFiles::find(std::uint32_t number) const {
  static const std::string others = trace::kOtherFiles;
  if (number == FATHOM_BPF_OTHERS) return &others;
  const auto found = files_.find(number);
  if (found == files_.end()) return nullptr;
  return found->second.path.empty() ? &others : &found->second.path;
}

void KnownFiles::erase(std::uint32_t number) {
  const auto found = files_.find(number);
  if (found == files_.end()) return;
  const std::size_t bytes = found->second.path.size();
  bytes_ -= bytes;
  if (const auto own = of_users_.find(found->second.user); own != of_users_.end()) {
    own->second -= bytes;
    if (own->second == 0) of_users_.erase(own);
  }
  files_.erase(found);
}

void KnownFiles::forget(std::vector<std::uint32_t> numbers) {
  for (const std::uint32_t number : old_) erase(number);
  old_ = std::move(numbers);
}

void KnownFiles::forget_replaced(std::int64_t now_ns, std::int64_t patience_ns) {
  for (const std::uint32_t number : newly_replaced_) replaced_.emplace_back(now_ns, number);
  newly_replaced_.clear();
  for (; !replaced_.empty() && replaced_.front().first < now_ns - patience_ns;
       replaced_.pop_front())
    erase(replaced_.front().second);
}

}  // namespace fathom::sources::ebpf
