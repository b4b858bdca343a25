// SPDX-License-Identifier: MIT
// Layer app: ranges and marks that programs tell by NVTX, NVIDIA's annotations. Its headers look
// for a library that NVTX_INJECTION64_PATH names, which `run` sets where nobody else did, and call
// InitializeInjectionNvtx2 in it, each copy of the headers in a process by itself. No library of
// NVIDIA's is involved. Category `nvtx`, or `nvtx:DOMAIN`.
#include <errno.h>
#include <fathom/fathom.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/records.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "sources/nvtx/interface.guest.h"

namespace fathom::guest {

// Ranges that were pushed and not popped, of a thread.
struct RangeStack {
  static constexpr uint32_t kRoom = 1 << 12;  // mapped; touched as far as the program goes
  struct Entry {
    fathom_region region;
    uint32_t site;
    nvtx::Details details;
    bool ended;  // before those above it: of another domain
  };
  Entry entries[kRoom];
};

namespace nvtx {
namespace {

constexpr fathom_source kApp = FATHOM_SOURCE_APP;
constexpr int kNotTracked = -2;  // NVTX_NO_PUSH_POP_TRACKING

// --- names
// ------------------------------------------------------------------------------------------------------------

constexpr uint32_t kDomains = 256;
struct Domain {
  char category[72];  // of its events
};
alignas(kLarge) constinit Domain domains[kDomains] = {{"nvtx"}};
constinit uint32_t domain_count = 1;  // atomic

// Those beyond the room are in the first one.
Domain* domain_of(Handle handle) {
  auto* domain = static_cast<Domain*>(handle);
  return domain >= domains && domain < domains + kDomains ? domain : domains;
}

// Domains of one name are one domain, as NVTX has it.
Handle make_domain(const char* name) {
  Domain made{};
  Text(made.category, sizeof made.category).add("nvtx:").add(name);
  const uint32_t known = __atomic_load_n(&domain_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 1; i < known && i < kDomains; i++) {
    if (strcmp(domains[i].category, made.category) == 0) return &domains[i];
  }
  const uint32_t at = __atomic_fetch_add(&domain_count, 1, __ATOMIC_ACQ_REL);
  if (at >= kDomains) return domains;
  domains[at] = made;
  return &domains[at];
}

constexpr uint32_t kCategories = 512;
struct Category {
  uint64_t key;  // atomic: domain and number; 0: free
  char name[56];
};
constinit Category categories[kCategories] = {};

uint64_t category_key(const Domain* domain, uint32_t number) {
  return (static_cast<uint64_t>(domain - domains + 1) << 32) | number;
}

void name_category(Handle handle, uint32_t number, const char* name) {
  const uint64_t key = category_key(domain_of(handle), number);
  for (uint32_t i = 0; i < kCategories; i++) {
    Category& category = categories[(key * UINT64_C(0x9e3779b97f4a7c15) + i) % kCategories];
    uint64_t seen = 0;
    if (__atomic_compare_exchange_n(&category.key, &seen, key, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        seen == key) {
      Text(category.name, sizeof category.name).add(name);
      return;
    }
  }
}

const char* category_name(uint64_t key) {
  for (uint32_t i = 0; i < kCategories; i++) {
    const Category& category = categories[(key * UINT64_C(0x9e3779b97f4a7c15) + i) % kCategories];
    const uint64_t seen = __atomic_load_n(&category.key, __ATOMIC_ACQUIRE);
    if (seen == key) return category.name;
    if (seen == 0) break;
  }
  return nullptr;
}

// Wide characters as UTF-8; those that are none are left out.
void add_wide(Text& to, const wchar_t* text) {
  for (; *text != 0; text++) {
    uint32_t code = 0;
    static_assert(sizeof code == sizeof *text);
    memcpy(&code, text, sizeof code);
    char bytes[4];
    size_t length = 0;
    if (code < 0x80) {
      bytes[length++] = static_cast<char>(code);
    } else if (code < 0x800) {
      bytes[length++] = static_cast<char>(0xc0 | (code >> 6));
    } else if (code < 0x10000) {
      bytes[length++] = static_cast<char>(0xe0 | (code >> 12));
      bytes[length++] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    } else if (code < 0x110000) {
      bytes[length++] = static_cast<char>(0xf0 | (code >> 18));
      bytes[length++] = static_cast<char>(0x80 | ((code >> 12) & 0x3f));
      bytes[length++] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    } else {
      continue;
    }
    if (code >= 0x80) bytes[length++] = static_cast<char>(0x80 | (code & 0x3f));
    to.add(bytes, length);
  }
}

// Does something with the text in UTF-8, or with "" where there is none.
template <class Use>
auto with_text(const wchar_t* wide, Use use) {
  const Scratch scratch;
  if (scratch.text() == nullptr || wide == nullptr) return use("");
  Text text(scratch.text(), Scratch::kRoom);
  add_wide(text, wide);
  return use(scratch.text());
}

uint32_t site_of(const Domain* domain, const char* name) {
  return define_site(name != nullptr ? name : "", domain->category, nullptr, 0);
}

// A handle of a registered text is the number of its site.
uint32_t site_of(const Domain* domain, const Attributes& event) {
  switch (event.message_type) {
    case kAscii:
      return site_of(domain, event.message.ascii);
    case kUnicode:
      return with_text(event.message.wide, [&](const char* text) { return site_of(domain, text); });
    case kRegistered:
      return static_cast<uint32_t>(event.message.registered);
    default:
      return site_of(domain, "");
  }
}

Details details_of(const Domain* domain, const Attributes& event) {
  Details details{};
  details.category = event.category != 0 ? category_key(domain, event.category) : 0;
  details.payload_type = event.payload_type;
  details.payload = event.payload;
  return details;
}

bool is_whole(const Attributes* event) {
  return event != nullptr && event->size >= sizeof(Attributes);
}

// --- records
// ----------------------------------------------------------------------------------------------------------

void send_details(const Details& details) {
  if (details.category != 0) {
    const char* name = category_name(details.category);
    if (name != nullptr) {
      fathom_arg_text("category", name);
    } else {
      fathom_arg_int("category", static_cast<uint32_t>(details.category));
    }
  }
  const Payload& payload = details.payload;
  switch (details.payload_type) {
    case kUnsigned64:
      return fathom_arg_uint("payload", payload.unsigned64);
    case kSigned64:
      return fathom_arg_int("payload", payload.signed64);
    case kDouble:
      return fathom_arg_double("payload", payload.real64);
    case kUnsigned32:
      return fathom_arg_uint("payload", payload.unsigned32);
    case kSigned32:
      return fathom_arg_int("payload", payload.signed32);
    case kFloat:
      return fathom_arg_double("payload", static_cast<double>(payload.real32));
    default:
      return;
  }
}

// Its arguments belong to the region that is as deep as the innermost level: for the moment, that.
void write_range(fathom_region region, uint32_t site, const Details& details, uint64_t open) {
  fathom_site place{nullptr, nullptr, nullptr, 0, site};
  fathom_levels_set(region.depth + 1);
  send_details(details);
  fathom_span_end(&place, region, region.depth);
  fathom_levels_set(open);
}

RangeStack* range_stack() {
  if (tls.thread == nullptr) return nullptr;
  if (tls.thread->ranges == nullptr) {
    tls.thread->ranges =
        static_cast<RangeStack*>(sys_mmap(sizeof(RangeStack), PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  }
  return tls.thread->ranges;
}

// How many ranges of the domain are open in this thread.
int open_ranges(const RangeStack& stack, const Domain* domain) {
  int count = 0;
  for (uint32_t i = 0; i < tls.thread->range_count; i++)
    count += !stack.entries[i].ended && stack.entries[i].details.domain == domain;
  return count;
}

int push(const Domain* domain, uint32_t site, Details details) {
  if (site == 0) return kNotTracked;
  const fathom_region region = fathom_span_begin();
  RangeStack* stack = region.begin != 0 ? range_stack() : nullptr;
  if (stack == nullptr) return kNotTracked;
  uint32_t& count = tls.thread->range_count;
  if (count >= RangeStack::kRoom) {
    fathom_levels_set(region.depth);
    count_loss(kApp, FATHOM_LOSS_TOO_DEEP);
    return kNotTracked;
  }
  const int level = open_ranges(*stack, domain);
  details.domain = domain;
  stack->entries[count++] = {region, site, details, false};
  return level;
}

// The innermost one of the domain. Levels close when nothing above them is open any more.
int pop(const Domain* domain) {
  if (!recording(kApp)) return kNotTracked;
  RangeStack* stack = range_stack();
  if (stack == nullptr) return kNotTracked;
  uint32_t& count = tls.thread->range_count;
  uint32_t at = count;
  while (at > 0 &&
         (stack->entries[at - 1].ended || stack->entries[at - 1].details.domain != domain))
    at--;
  if (at == 0) return kNotTracked;
  RangeStack::Entry& entry = stack->entries[at - 1];
  entry.ended = true;
  uint64_t open = fathom_levels_open(0);
  while (count > 0 && stack->entries[count - 1].ended) open = stack->entries[--count].region.depth;
  write_range(entry.region, entry.site, entry.details, open);
  return open_ranges(*stack, domain);
}

// --- ranges of no thread
// ------------------------------------------------------------------------------------------------

constexpr uint64_t kOpen = 1 << 12;
struct OpenRange {
  uint64_t id;  // atomic; 0: free
  uint64_t begin;
  uint32_t site;
  int tid;
  Details details;
};
constinit OpenRange open_range[kOpen] = {};
constinit uint64_t last_range = 0;  // atomic

uint64_t start(uint32_t site, const Details& details) {
  if (!recording(kApp) || site == 0) return 0;
  for (int tries = 0; tries < 8; tries++) {
    const uint64_t id = __atomic_add_fetch(&last_range, 1, __ATOMIC_RELAXED);
    OpenRange& range = open_range[id % kOpen];
    uint64_t nobody = 0;
    if (!__atomic_compare_exchange_n(&range.id, &nobody, id, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    range.begin = tick();
    range.site = site;
    range.tid = tls.thread != nullptr ? tls.thread->tid : 0;
    range.details = details;
    return id;
  }
  count_loss(kApp, FATHOM_LOSS_TOO_DEEP);
  return 0;
}

// Of whichever thread ends it, as deep as what would begin there now.
void end(uint64_t id) {
  OpenRange& range = open_range[id % kOpen];
  if (id == 0 || __atomic_load_n(&range.id, __ATOMIC_ACQUIRE) != id || !recording(kApp)) return;
  const OpenRange known = range;
  __atomic_store_n(&range.id, 0, __ATOMIC_RELEASE);
  const uint64_t open = fathom_levels_open(1);
  if (tls.thread != nullptr && known.tid != tls.thread->tid)
    fathom_arg_int("started_by", known.tid);
  write_range({known.begin, open}, known.site, known.details, open);
}

void mark(uint32_t site) {
  fathom_site place{nullptr, nullptr, nullptr, 0, site};
  if (site != 0) fathom_instant(&place);
}

// --- what NVTX calls; a program's errno is not ours
// --------------------------------------------------------------------

class KeepErrno {
 public:
  KeepErrno() : error_(errno) {}
  ~KeepErrno() { errno = error_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int error_;
};

void domain_mark(Handle handle, const Attributes* event) {
  const KeepErrno keep;
  if (recording(kApp) && is_whole(event)) mark(site_of(domain_of(handle), *event));
}
void mark_ascii(const char* text) {
  const KeepErrno keep;
  if (recording(kApp)) mark(site_of(domains, text));
}
void mark_wide(const wchar_t* text) {
  with_text(text, [](const char* name) { mark_ascii(name); });
}
void mark_event(const Attributes* event) { domain_mark(domains, event); }

uint64_t domain_start(Handle handle, const Attributes* event) {
  const KeepErrno keep;
  if (!recording(kApp) || !is_whole(event)) return 0;
  const Domain* domain = domain_of(handle);
  return start(site_of(domain, *event), details_of(domain, *event));
}
uint64_t start_ascii(const char* text) {
  const KeepErrno keep;
  return recording(kApp) ? start(site_of(domains, text), {}) : 0;
}
uint64_t start_wide(const wchar_t* text) {
  return with_text(text, [](const char* name) { return start_ascii(name); });
}
uint64_t start_event(const Attributes* event) { return domain_start(domains, event); }
void end_range(uint64_t id) {
  const KeepErrno keep;
  end(id);
}
void domain_end(Handle, uint64_t id) { end_range(id); }

int domain_push(Handle handle, const Attributes* event) {
  const KeepErrno keep;
  if (!recording(kApp) || !is_whole(event)) return kNotTracked;
  const Domain* domain = domain_of(handle);
  return push(domain, site_of(domain, *event), details_of(domain, *event));
}
int push_ascii(const char* text) {
  const KeepErrno keep;
  return recording(kApp) ? push(domains, site_of(domains, text), {}) : kNotTracked;
}
int push_wide(const wchar_t* text) {
  return with_text(text, [](const char* name) { return push_ascii(name); });
}
int push_event(const Attributes* event) { return domain_push(domains, event); }
int domain_pop(Handle handle) {
  const KeepErrno keep;
  return pop(domain_of(handle));
}
int pop_range() { return domain_pop(domains); }

void domain_category(Handle handle, uint32_t number, const char* name) {
  if (name != nullptr) name_category(handle, number, name);
}
void domain_category_wide(Handle handle, uint32_t number, const wchar_t* name) {
  with_text(name, [&](const char* text) { name_category(handle, number, text); });
}
void category_ascii(uint32_t number, const char* name) { domain_category(domains, number, name); }
void category_wide(uint32_t number, const wchar_t* name) {
  domain_category_wide(domains, number, name);
}

Handle registered(Handle handle, const char* text) {
  const KeepErrno keep;
  const uintptr_t site = recording(kApp) ? site_of(domain_of(handle), text) : 0;
  return reinterpret_cast<Handle>(site);  // NOLINT(performance-no-int-to-ptr)
}
Handle registered_wide(Handle handle, const wchar_t* text) {
  return with_text(text, [&](const char* name) { return registered(handle, name); });
}
Handle domain_create(const char* name) { return name != nullptr ? make_domain(name) : domains; }
Handle domain_create_wide(const wchar_t* name) {
  return with_text(name, [](const char* text) { return make_domain(text); });
}

// --- their places in NVTX's tables
// --------------------------------------------------------------------------------------

struct Row {
  Module module;
  unsigned id;
  Function function;
};
#define ROW(module, id, function) \
  { module, id, reinterpret_cast<Function>(&function) }
const Row kRows[] = {
    ROW(kCore, 1, mark_event),       ROW(kCore, 2, mark_ascii),
    ROW(kCore, 3, mark_wide),        ROW(kCore, 4, start_event),
    ROW(kCore, 5, start_ascii),      ROW(kCore, 6, start_wide),
    ROW(kCore, 7, end_range),        ROW(kCore, 8, push_event),
    ROW(kCore, 9, push_ascii),       ROW(kCore, 10, push_wide),
    ROW(kCore, 11, pop_range),       ROW(kCore, 12, category_ascii),
    ROW(kCore, 13, category_wide),   ROW(kCore2, 1, domain_mark),
    ROW(kCore2, 2, domain_start),    ROW(kCore2, 3, domain_end),
    ROW(kCore2, 4, domain_push),     ROW(kCore2, 5, domain_pop),
    ROW(kCore2, 8, domain_category), ROW(kCore2, 9, domain_category_wide),
    ROW(kCore2, 10, registered),     ROW(kCore2, 11, registered_wide),
    ROW(kCore2, 12, domain_create),  ROW(kCore2, 13, domain_create_wide),
};
#undef ROW

}  // namespace
}  // namespace nvtx
}  // namespace fathom::guest

using namespace fathom::guest;

// 0 where nothing is recorded: NVTX's functions are nothing then.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    nvtx::ExportTable export_table) {
  if (export_table == nullptr || !recording(FATHOM_SOURCE_APP)) return 0;
  const auto* callbacks = static_cast<const nvtx::Callbacks*>(export_table(nvtx::kCallbacks));
  if (callbacks == nullptr || callbacks->size < sizeof *callbacks) return 0;
  for (const nvtx::Row& row : nvtx::kRows) {
    nvtx::Function** table = nullptr;
    unsigned size = 0;
    if (callbacks->table(row.module, &table, &size) == 0 || table == nullptr) continue;
    if (row.id < size && table[row.id] != nullptr) *table[row.id] = row.function;
  }
  return 1;
}
