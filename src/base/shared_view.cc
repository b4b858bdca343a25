// SPDX-License-Identifier: MIT
// The SIGBUS handler of the process. It may only touch atomics, so views are entries of a table
// that grows in blocks and is never freed; a missing page is replaced by zeros in place.
#include "base/shared_view.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

#include "base/os_error.h"

namespace fathom {
namespace {

// What the handler reads while any thread makes and unmakes views: words alone, never freed.
struct Guarded {
  std::atomic<std::uintptr_t> begin{0};  // 0: nobody's
  std::atomic<std::size_t> size{0};
  std::atomic<std::uint64_t> missing{0};
};
constexpr std::uint32_t kPerBlock = 1024;
constexpr std::uint32_t kBlocks = 1024;
struct Block {
  Guarded views[kPerBlock];
};
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a signal has no other state
std::atomic<Block*> blocks[kBlocks];
std::atomic<std::uint32_t> used{0};  // places that were ever taken
std::uintptr_t page_size = 0;
struct sigaction before {};
std::mutex making;
std::atomic<bool> handled{false};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

Guarded& at(std::uint32_t place) {
  return blocks[place / kPerBlock].load()->views[place % kPerBlock];
}

Guarded* find(std::uintptr_t address) {
  const std::uint32_t count = used.load();
  for (std::uint32_t place = 0; place < count; ++place) {
    Guarded& view = at(place);
    const std::uintptr_t begin = view.begin.load();
    if (begin != 0 && address >= begin && address - begin < view.size.load()) return &view;
  }
  return nullptr;
}

// A page of zeros where the file has none. Anybody else's fault is what it was before us.
void page_is_gone(int number, siginfo_t* info, void*) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Guarded* const view = info->si_code == BUS_ADRERR ? find(address) : nullptr;
  const long mapped = view == nullptr ? -1
                                      : ::syscall(SYS_mmap, address & ~(page_size - 1), page_size,
                                                  PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (mapped == -1) {
    ::sigaction(number, &before, nullptr);  // it comes again when we return
  } else {
    view->missing.fetch_add(1);
  }
  errno = error;
}

void handle_once() {
  if (handled.exchange(true)) return;
  page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours {};
  ours.sa_sigaction = page_is_gone;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &before);
}

// A place for one more view; kBlocks * kPerBlock: there is none.
std::uint32_t take_place(void* memory, std::size_t bytes) {
  const std::scoped_lock lock(making);
  handle_once();
  std::uint32_t place = 0;
  while (place < used.load() && at(place).begin.load() != 0) ++place;
  if (place == kBlocks * kPerBlock) return place;
  std::atomic<Block*>& block = blocks[place / kPerBlock];
  if (block.load() == nullptr) block.store(new Block());
  if (place == used.load()) used.store(place + 1);
  at(place).size.store(bytes);
  at(place).missing.store(0);
  at(place).begin.store(reinterpret_cast<std::uintptr_t>(memory));
  return place;
}

int protection(bool writable) { return writable ? PROT_READ | PROT_WRITE : PROT_READ; }

}  // namespace

Result<SharedView> SharedView::map(int fd, std::size_t bytes, bool writable) {
  SharedView view;
  void* memory = ::mmap(nullptr, bytes, protection(writable), MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return os_error(errno, "map a file");
  view.place_ = take_place(memory, bytes);
  view.memory_ = memory;
  view.size_ = bytes;
  view.writable_ = writable;
  if (view.place_ == kBlocks * kPerBlock) return Error{Code::kIo, "too many files are mapped", ""};
  return view;
}

SharedView::~SharedView() {
  if (memory_ == nullptr) return;
  if (place_ < kBlocks * kPerBlock) at(place_).begin.store(0);
  ::munmap(memory_, size_);
}

void SharedView::swap(SharedView& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(writable_, other.writable_);
  std::swap(place_, other.place_);
}

std::uint64_t SharedView::missing_pages() const {
  return memory_ == nullptr ? 0 : at(place_).missing.load();
}

Status SharedView::map_again(int fd) {
  void* memory = ::mmap(memory_, size_, protection(writable_), MAP_SHARED | MAP_FIXED, fd, 0);
  if (memory == MAP_FAILED) return os_error(errno, "map a file again");
  at(place_).missing.store(0);
  return {};
}

void SharedView::drop_pages() const { (void)::madvise(memory_, size_, MADV_DONTNEED); }

void restore_bus_signal() {
  if (handled.load()) ::sigaction(SIGBUS, &before, nullptr);
}

}  // namespace fathom
