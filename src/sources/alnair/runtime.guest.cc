// SPDX-License-Identifier: MIT
// The two functions of CUDA's run-time library that Alnair's logs have rows for. They are in
// libpfinterpose.so and libpfinterpose_heap.so alone: whoever preloads those stands between a
// program and its run-time library, whether that is libcudart.so, of which a process may have
// several, or part of a library of the program that shows its symbols. Which one a call is meant
// for is told by where it comes from. A run-time library that is linked into the program itself is
// not seen, by theirs as by ours.
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/elf_object.h"
#include "guest/records.h"
#include "guest/runtime.h"
#include "sources/runtime_copies.guest.h"

namespace fathom::guest::alnair {
namespace {

using Copy = int (*)(void* to, const void* from, size_t count, int kind);
using CopyAsync = int (*)(void* to, const void* from, size_t count, int kind, void* stream);

constexpr int kNoLibrary = 34;  // cudaErrorStubLibrary
constexpr char kLibrary[] = "libcudart.so";

// --- whose function is meant
// -----------------------------------------------------------------------------------------

struct Search {
  const char* symbol;
  uintptr_t caller;
  const char* needed = nullptr;  // the run-time library that the caller's object was linked with
  void* own = nullptr;           // of the caller's own object
  void* linked = nullptr;
  void* first = nullptr;  // of any libcudart.so
  void* other = nullptr;  // of anything else
  int libraries = 0;      // that have one
};

bool holds(const dl_phdr_info* info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - info->dlpi_addr - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

bool is_runtime(const char* name) { return strncmp(name, kLibrary, sizeof kLibrary - 1) == 0; }

void* definition_in(const Object& object, const char* name) {
  const size_t count = count_symbols(object);
  for (size_t i = 0; i < count; i++) {
    const ElfW(Sym)& symbol = object.symbols[i];
    if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        strcmp(object.strings + symbol.st_name, name) == 0)
      return reinterpret_cast<void*>(object.base + symbol.st_value);
  }
  return nullptr;
}

const char* needed_runtime(const dl_phdr_info* info, const Object& object) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_NEEDED && is_runtime(object.strings + entry->d_un.d_val))
        return object.strings + entry->d_un.d_val;
    }
  }
  return nullptr;
}

bool is_readable(const dl_phdr_info* info, Object& object) {
  return !holds(info, reinterpret_cast<uintptr_t>(&is_runtime)) && read_object(info, object) &&
         object.symbols != nullptr && object.strings != nullptr;
}

int look_at_caller(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  Object object;
  if (!holds(info, search->caller)) return 0;
  if (!is_readable(info, object)) return 1;
  search->own = definition_in(object, search->symbol);
  search->needed = needed_runtime(info, object);
  return 1;
}

int look_at_library(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const char* name = base_name_of(info->dlpi_name);
  Object object;
  if (!is_runtime(name) || !is_readable(info, object)) return 0;
  void* found = definition_in(object, search->symbol);
  if (found == nullptr) return 0;
  search->libraries++;
  if (search->first == nullptr) search->first = found;
  if (search->needed != nullptr && strcmp(search->needed, name) == 0) search->linked = found;
  return 0;
}

int look_at_other(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  Object object;
  if (!is_readable(info, object)) return 0;
  search->other = definition_in(object, search->symbol);
  return search->other != nullptr ? 1 : 0;
}

void* meant_by(Search& search) {
  dl_iterate_phdr(look_at_caller, &search);
  dl_iterate_phdr(look_at_library, &search);
  if (search.own != nullptr) return search.own;
  if (search.linked != nullptr) return search.linked;
  if (search.first == nullptr) dl_iterate_phdr(look_at_other, &search);
  return search.first != nullptr ? search.first : search.other;
}

// Calls by where they come from; what does not fit is looked for each time.
constexpr uint32_t kSites = 256;
constexpr uintptr_t kClaimed = 1;
struct Site {
  uintptr_t caller;  // atomic
  void* original;
};

// Each of the four has a table of its own.
struct Sites {
  const char* symbol;
  Site sites[kSites];
};

void* original_for(Sites& known, const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  const auto start = static_cast<uint32_t>((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
  for (uint32_t i = 0; i < 8; i++) {
    Site& site = known.sites[(start + i) % kSites];
    uintptr_t here = __atomic_load_n(&site.caller, __ATOMIC_ACQUIRE);
    if (here == address) return site.original;
    if (here != 0) continue;
    Search search{.symbol = known.symbol, .caller = address};
    void* original = meant_by(search);
    if (original != nullptr && __atomic_compare_exchange_n(&site.caller, &here, kClaimed, false,
                                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      site.original = original;
      __atomic_store_n(&site.caller, address, __ATOMIC_RELEASE);
    }
    return original;
  }
  Search search{.symbol = known.symbol, .caller = address};
  return meant_by(search);
}

constinit Sites copies = {"cudaMemcpy", {}};
constinit Sites thread_copies = {"cudaMemcpy_ptds", {}};
constinit Sites async_copies = {"cudaMemcpyAsync", {}};
constinit Sites thread_async_copies = {"cudaMemcpyAsync_ptsz", {}};

// --- the hooks
// ----------------------------------------------------------------------------------------------------------

struct Facts {
  uint64_t begin = 0, end = 0;
  uint8_t depth = 0;
  int result = 0;
  size_t count = 0;
  int kind = 0;
};

void write_copy(unsigned of, const Facts& facts) {
  if (FATHOM_UNLIKELY(guest.filtered) && !call_wanted(static_cast<uint16_t>(of))) return;
  Writer writer(FATHOM_SOURCE_CUDA);
  if (!writer.ok()) return;
  uint8_t* const head = tls.cursor.at;
  uint8_t* at = put_timed_head(of, facts.depth, facts.end);
  at = fathom_put_varint(at, facts.end - facts.begin);
  if (facts.result != 0) {
    uint16_t word;
    memcpy(&word, head, 2);
    word = static_cast<uint16_t>(word | FATHOM_FLAG_ERROR);
    memcpy(head, &word, 2);
    at = fathom_put_varint(at, static_cast<unsigned>(facts.result));
  }
  at = fathom_put_varint(at, facts.count);
  writer.commit(fathom_put_varint(at, fathom_zigzag(facts.kind)));
}

template <class Function, class... More>
int copy(unsigned of, Sites& known, const void* caller, void* to, const void* from, size_t count,
         int kind, More... more) {
  const auto original = reinterpret_cast<Function>(original_for(known, caller));
  if (original == nullptr) return kNoLibrary;
  if (!recording(FATHOM_SOURCE_CUDA)) return original(to, from, count, kind, more...);
  Facts facts;
  facts.depth = open_level(FATHOM_FRAME);
  facts.count = count;
  facts.kind = kind;
  facts.begin = tick();
  note_call(static_cast<uint16_t>(of), facts.begin);
  facts.result = original(to, from, count, kind, more...);
  facts.end = tick();
  close_level(facts.depth);
  write_copy(of, facts);
  return facts.result;
}

}  // namespace
}  // namespace fathom::guest::alnair

using namespace fathom::guest;
using namespace fathom::guest::alnair;

#define FATHOM_SEEN extern "C" __attribute__((visibility("default")))

FATHOM_SEEN int cudaMemcpy(void* to, const void* from, size_t count, int kind) {
  return copy<Copy>(FATHOM_FIRST_RUNTIME_KIND, copies, __builtin_return_address(0), to, from, count,
                    kind);
}
FATHOM_SEEN int cudaMemcpy_ptds(void* to, const void* from, size_t count, int kind) {
  return copy<Copy>(FATHOM_FIRST_RUNTIME_KIND + 1, thread_copies, __builtin_return_address(0), to,
                    from, count, kind);
}
FATHOM_SEEN int cudaMemcpyAsync(void* to, const void* from, size_t count, int kind, void* stream) {
  return copy<CopyAsync>(FATHOM_FIRST_RUNTIME_KIND + 2, async_copies, __builtin_return_address(0),
                         to, from, count, kind, stream);
}
FATHOM_SEEN int cudaMemcpyAsync_ptsz(void* to, const void* from, size_t count, int kind,
                                     void* stream) {
  return copy<CopyAsync>(FATHOM_FIRST_RUNTIME_KIND + 3, thread_async_copies,
                         __builtin_return_address(0), to, from, count, kind, stream);
}

namespace fathom::guest {
namespace {

// As for the driver's functions (cuda/driver.guest.cc): the real answer first, and no hook where
// there is nothing behind it. Of several run-time libraries, which one a pointer belongs to could
// not be told when it is called: they are given out as they are.
void* answer_lookup(const Lookup& lookup, const Binding& row) {
  void* first = lookup.find(lookup.handle, row.symbol);
  void* found = first == row.hook ? lookup.find(RTLD_NEXT, row.symbol) : first;
  if (found == nullptr) return first == nullptr ? nullptr : kAnswerNull;
  if (guest.wanted[FATHOM_SOURCE_CUDA] == 0) return found;
  Search search{.symbol = row.symbol, .caller = reinterpret_cast<uintptr_t>(lookup.caller)};
  const bool same = meant_by(search) == found && search.libraries <= 1;
  return same ? row.hook : found;
}

void* nothing_original = nullptr;
#define ROW(symbol) \
  { #symbol, reinterpret_cast < void*>(&symbol), &nothing_original }
const Binding kRows[] = {ROW(cudaMemcpy), ROW(cudaMemcpy_ptds), ROW(cudaMemcpyAsync),
                         ROW(cudaMemcpyAsync_ptsz)};
#undef ROW

}  // namespace

extern const Bindings kAlnairBindings;
const Bindings kAlnairBindings{kRows, sizeof kRows / sizeof *kRows, answer_lookup};

}  // namespace fathom::guest
