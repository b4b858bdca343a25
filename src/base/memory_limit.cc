// SPDX-License-Identifier: MIT
// Only anonymous memory counts: pages of files are the kernel's to take back.
#include "base/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/memory.h"
#include "base/text.h"

namespace fathom {
namespace {

constexpr std::uint64_t kLeast = 16ULL << 20U;  // less is not enough to open anything

std::uint64_t anonymous_bytes() { return own_memory("RssAnon:"); }

}  // namespace

MemoryLimit::MemoryLimit(std::uint64_t bytes) : bytes_(bytes != 0 ? bytes : usable_memory() / 2) {}

Result<MemoryLimit> MemoryLimit::parse(const std::string& option, const std::string& text) {
  const Result<std::uint64_t> bytes = parse_bytes(text);
  if (bytes && *bytes >= kLeast) return MemoryLimit(*bytes);
  return usage_error(option + " '" + text + "' is not a valid limit",
                     "write it as 512MiB or 4GB, at least 16M");
}

// Values of a single cell, and some of its threads' own, the database does not count.
std::string MemoryLimit::of_store() const { return std::to_string(bytes_ - bytes_ / 5) + "B"; }

void MemoryLimit::begin() {
  before_ = anonymous_bytes();
  begun_ = true;
}

bool MemoryLimit::is_exceeded(std::uint64_t rooms) const {
  return begun_ && anonymous_bytes() > before_ + bytes_ + rooms * kOwnRoom;
}

// Only what is mapped can be bounded, and allocators and threads map more than they use. A quarter
// of the machine is room enough for that, and keeps the kernel from ending processes.
void MemoryLimit::bound_process() const {
  constexpr std::uint64_t kStack = 16ULL << 20U;  // of a thread, with its allocator's part
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const std::uint64_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t unused = std::min(bytes_, usable_memory() / 4);
  const rlim_t most = own_memory("VmData:") + bytes_ + unused + kOwnRoom + threads * kStack;
  limit.rlim_cur = std::min({limit.rlim_max, limit.rlim_cur, most});
  (void)::setrlimit(RLIMIT_DATA, &limit);
}

Error MemoryLimit::refusal(const std::string& work, std::string hint) const {
  return {Code::kIo, work + " needs more memory than " + human_bytes(static_cast<double>(bytes_)),
          std::move(hint)};
}

}  // namespace fathom
