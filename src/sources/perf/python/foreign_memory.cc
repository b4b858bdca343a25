// SPDX-License-Identifier: MIT
// process_vm_readv neither stops the process nor shows in it.
#include "sources/perf/python/foreign_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace fathom::sources {

const ProcessMemory::Page* ProcessMemory::page(std::uint64_t number) {
  const auto [place, is_new] = pages_.try_emplace(number);
  if (!is_new) return place->second.get();
  auto page = std::make_unique<Page>();
  const iovec here{page->data(), kPage};
  const iovec there{reinterpret_cast<void*>(number * kPage),  // NOLINT(performance-no-int-to-ptr)
                    kPage};
  const ssize_t count = ::process_vm_readv(process_, &here, 1, &there, 1, 0);
  if (count < 0 && errno == EPERM) denied_ = true;
  if (count == static_cast<ssize_t>(kPage)) place->second = std::move(page);
  return place->second.get();
}

bool ProcessMemory::read(std::uint64_t address, std::span<std::byte> to) {
  if (address + to.size() < address) return false;
  while (!to.empty()) {
    const Page* bytes = page(address / kPage);
    if (bytes == nullptr) return false;
    const std::size_t at = address % kPage;
    const std::size_t count = std::min(to.size(), kPage - at);
    std::memcpy(to.data(), bytes->data() + at, count);
    to = to.subspan(count);
    address += count;
  }
  return true;
}

}  // namespace fathom::sources
