// SPDX-License-Identifier: MIT
// For tests of what several processes do to one mapping: calls a function right before the first
// write to some pages. What another process may do between two steps happens there, every time.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

namespace fathom::testing {

// Where this process has mapped a file so that others see its writes; nullptr: nowhere. Of several
// mappings the first.
inline void* shared_mapping_of(ino_t inode) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device;
    std::uint64_t found = 0;
    void* at = nullptr;
    words >> range >> rights >> offset >> device >> found;
    if (found == inode && inode != 0 && rights.starts_with("rw") && rights.ends_with("s"))
      return std::sscanf(range.c_str(), "%p-", &at) == 1 ? at : nullptr;
  }
  return nullptr;
}
inline void* shared_mapping_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? shared_mapping_of(facts.st_ino) : nullptr;
}

// One at a time. The function runs once, in the thread that writes.
class WriteTrap {
 public:
  WriteTrap(void* place, std::size_t bytes, std::function<void()> before)
      : before_(std::move(before)) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t before_place = reinterpret_cast<std::uintptr_t>(place) & (page - 1);
    begin_ = static_cast<char*>(place) - before_place;
    size_ = (before_place + bytes + page - 1) & ~(page - 1);
    armed() = this;
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGSEGV, &ours, &old_);
    protect(PROT_READ);
  }
  ~WriteTrap() {
    protect(PROT_READ | PROT_WRITE);
    ::sigaction(SIGSEGV, &old_, nullptr);
    armed() = nullptr;
  }
  WriteTrap(const WriteTrap&) = delete;
  WriteTrap& operator=(const WriteTrap&) = delete;

  [[nodiscard]] bool fired() const { return fired_; }

 private:
  static WriteTrap*& armed() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal has no other
    static WriteTrap* trap = nullptr;
    return trap;
  }
  void protect(int rights) const { (void)::mprotect(begin_, size_, rights); }
  // The write is done again when this returns. A fault elsewhere is what it would have been.
  static void on_fault(int number, siginfo_t* info, void* /*context*/) {
    WriteTrap* const trap = armed();
    const auto* address = static_cast<const char*>(info->si_addr);
    if (trap == nullptr || trap->fired_ || address < trap->begin_ ||
        address >= trap->begin_ + trap->size_) {
      (void)::signal(number, SIG_DFL);
      return;
    }
    const int error = errno;
    trap->fired_ = true;
    trap->protect(PROT_READ | PROT_WRITE);
    trap->before_();
    errno = error;
  }

  std::function<void()> before_;
  char* begin_ = nullptr;
  std::size_t size_ = 0;
  bool fired_ = false;
  struct sigaction old_ {};
};

}  // namespace fathom::testing
