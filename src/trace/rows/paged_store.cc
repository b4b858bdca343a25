// SPDX-License-Identifier: MIT
// A clock algorithm over pages in a file without a name. Where no such file can be had, memory
// grows instead: names matter more than memory.
#include "trace/rows/paged_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace fathom::trace {
namespace {

// A page that was used this long ago, in uses of others, is not wanted soon.
constexpr std::uint64_t kOld = PagedStore::kMostInMemory;

off_t offset_of(std::size_t page) { return static_cast<off_t>(page * PagedStore::kPage); }

}  // namespace

bool PagedStore::open_file() {
  if (file_.valid() || no_file_) return file_.valid();
  const char* usual = std::getenv("TMPDIR");
  const std::string fallback = usual != nullptr && *usual != '\0' ? usual : "/tmp";
  for (const std::string& place : {directory_, fallback}) {
    if (place.empty() || file_.valid()) continue;
    file_.reset(::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  }
  no_file_ = !file_.valid();
  return file_.valid();
}

bool PagedStore::put_away(std::size_t page) {
  if (!open_file()) return false;
  const ssize_t put = ::pwrite(file_.get(), pages_[page].memory.get(), kPage, offset_of(page));
  if (put != static_cast<ssize_t>(kPage)) return false;  // a full disk: it stays
  pages_[page].memory.reset();
  return true;
}

// One page leaves memory: the first that nobody used for a while.
void PagedStore::make_room() {
  if (in_memory_.size() < kMostInMemory || no_file_) return;
  for (std::uint64_t age : {kOld, kSafe}) {
    for (std::size_t looked = 0; looked < in_memory_.size(); looked++) {
      hand_ = (hand_ + 1) % in_memory_.size();
      const std::size_t page = in_memory_[hand_];
      if (now_ - pages_[page].last_use <= age) continue;
      if (put_away(page)) {
        in_memory_[hand_] = in_memory_.back();
        in_memory_.pop_back();
      }
      return;
    }
  }
}

void PagedStore::bring(std::size_t page) {
  make_room();
  pages_[page].memory = std::make_unique<char[]>(kPage);
  in_memory_.push_back(page);
  // What cannot be read back is as if it had never been there.
  if (::pread(file_.get(), pages_[page].memory.get(), kPage, offset_of(page)) !=
      static_cast<ssize_t>(kPage))
    std::memset(pages_[page].memory.get(), 0, kPage);
}

std::uint64_t PagedStore::allocate(std::size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  if (kPage - used_ < bytes) {
    make_room();
    in_memory_.push_back(pages_.size());
    pages_.push_back({std::make_unique<char[]>(kPage), now_});
    used_ = 0;
  }
  const std::uint64_t place = (pages_.size() - 1) * kPage + used_;
  used_ += bytes;
  return place;
}

char* PagedStore::at(std::uint64_t place) {
  const std::size_t page = place / kPage;
  now_++;
  if (!pages_[page].memory) bring(page);
  pages_[page].last_use = now_;
  return pages_[page].memory.get() + place % kPage;
}

}  // namespace fathom::trace
