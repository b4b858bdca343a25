// SPDX-License-Identifier: MIT
// Makes run.header again when somebody removed or cut it: programs that attach later need it, and
// those that have it mapped would die of a page that is gone.
#include "trace/spool/run_page.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/files.h"
#include "base/host.h"

namespace fathom::trace {
namespace {

// Somebody who replaces it again and again does not fill our memory.
constexpr std::size_t kMostPages = 64;

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// What those count who map it from now on; numbers of pools go on.
std::string page_of(fathom_run_header header, std::uint32_t pools_made) {
  header.refused = 0;
  fathom_run_shared shared{};
  shared.pools_made = pools_made;
  std::string page(FATHOM_RUN_HEADER_SIZE, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  std::memcpy(page.data() + FATHOM_RUN_SHARED_OFFSET, &shared, sizeof shared);
  return page;
}

}  // namespace

RunPage::RunPage(std::string path, const fathom_run_header& first)
    : path_(std::move(path)), first_(first) {
  (void)map_file();
}

bool RunPage::map_file() {
  const Fd fd(::open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const bool known = !pages_.empty() && pages_.back().device == facts.st_dev &&
                     pages_.back().inode == facts.st_ino;
  const bool whole = facts.st_size >= FATHOM_RUN_HEADER_SIZE;
  if (known) {
    if (!whole) mend(fd.get(), pages_.back());
    return true;
  }
  if (!whole || pages_.size() == kMostPages) return false;
  Result<SharedView> view = SharedView::map(fd.get(), FATHOM_RUN_HEADER_SIZE, true);
  if (!view) return false;
  pages_.push_back({std::move(view).value(), facts.st_dev, facts.st_ino});
  return true;
}

// A program that touches what is gone would end.
void RunPage::mend(int fd, Page& page) const {
  const std::string again = page_of(first_, pools_made_);
  if (::pwrite(fd, again.data(), again.size(), 0) != static_cast<ssize_t>(again.size())) return;
  (void)page.view.map_again(fd).has_value();
}

void RunPage::make_again() const {
  (void)write_file_atomic(path_, page_of(first_, pools_made_), 0600).has_value();
}

void RunPage::keep() {
  pools_made_ = std::max(pools_made_, shared().pools_made);
  if (map_file() || path_exists(path_)) return;
  make_again();
  (void)map_file();
}

// A run of another machine has a recorder there, or none: we are no sign that it lives.
void RunPage::beat(std::int64_t realtime_ns) {
  const std::string_view boot(first_.boot_id, strnlen(first_.boot_id, sizeof first_.boot_id));
  if (pages_.empty() || boot != this_host().boot_id) return;
  __atomic_store_n(&pages_.back().header().heartbeat_ns, static_cast<std::uint64_t>(realtime_ns),
                   __ATOMIC_RELEASE);
}

void RunPage::tell_trouble(std::string_view why) {
  if (pages_.empty()) return;
  char* const to = pages_.back().header().trouble;
  constexpr std::size_t kRoom = sizeof first_.trouble;
  if (why.empty() && *to == 0) return;
  const std::size_t length = std::min(why.size(), kRoom - 1);
  std::memset(to, 0, kRoom);
  std::memcpy(to, why.data(), length);
}

void RunPage::give_back(std::uint64_t bytes) {
  if (!pages_.empty())
    __atomic_fetch_sub(&pages_.front().header().pool_bytes, bytes, __ATOMIC_RELAXED);
}

fathom_run_shared RunPage::shared() const {
  fathom_run_shared sum{};
  if (first_.version < 3) return sum;
  for (const Page& page : pages_) {
    const fathom_run_shared& one = page.shared();
    for (unsigned source = 0; source < FATHOM_SOURCE_ROOM; source++) {
      for (unsigned reason = 0; reason < FATHOM_LOSS_REASONS; reason++)
        *fathom_loss_counter(&sum, source, reason) += fathom_loss_count(&one, source, reason);
    }
    sum.runs += load(one.runs);
    sum.pools_made = std::max(sum.pools_made, load(one.pools_made));
  }
  return sum;
}

std::uint64_t RunPage::refused() const {
  std::uint64_t sum = 0;
  for (const Page& page : pages_) sum += load(page.header().refused);
  return sum;
}

}  // namespace fathom::trace
