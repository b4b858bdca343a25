// SPDX-License-Identifier: MIT
// Where CUPTI lies: where FATHOM_CUPTI says, in the process already (PyTorch brings it), beside the
// run-time library that the process uses (wheels and toolkits), under CUDA_HOME, or where the
// loader looks.
#include <dlfcn.h>
#include <link.h>

#include <initializer_list>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/elf_object.h"
#include "guest/scratch.h"
#include "guest/text.h"
#include "sources/device_work.guest.h"
#include "sources/gpu/cupti.guest.h"

extern "C" __attribute__((visibility("hidden"))) void* fathom_original_dlsym;
extern "C" __attribute__((visibility("hidden"))) void* fathom_original_dlopen;

namespace fathom::guest::gpu {

constinit Cupti cupti = {};

namespace {

constinit void* library = nullptr;

struct Row {
  const char* symbol;
  void** function;
  bool needed;
};
#define ROW(symbol, function, needed) \
  { symbol, reinterpret_cast<void**>(&cupti.function), needed }
const Row kRows[] = {
    ROW("cuptiGetVersion", version, true),
    ROW("cuptiSubscribe", subscribe, true),
    ROW("cuptiSubscribe_v2", subscribe_named, false),
    ROW("cuptiUnsubscribe", unsubscribe, true),
    ROW("cuptiGetCallbackName", call_name, true),
    ROW("cuptiEnableCallback", enable_call, true),
    ROW("cuptiActivityRegisterCallbacks", register_buffers, true),
    ROW("cuptiActivityRegisterTimestampCallback", register_clock, false),
    ROW("cuptiGetTimestamp", now, true),
    ROW("cuptiActivityEnable", enable, true),
    ROW("cuptiActivityDisable", disable, true),
    ROW("cuptiActivityGetNextRecord", next_record, true),
    ROW("cuptiActivityGetNumDroppedRecords", dropped, true),
    ROW("cuptiActivityFlushAll", flush, true),
    ROW("cuptiActivityFlushPeriod", flush_period, false),
    ROW("cuptiFinalize", finalize, true),
    ROW("cuptiGetResultString", result_text, false),
};
#undef ROW

constexpr size_t kPathRoom = 4096;
static_assert(kPathRoom <= Scratch::kRoom);

struct Found {
  const char* prefix;
  char* path;
};

int look_at_object(dl_phdr_info* info, size_t, void* data) {
  auto* found = static_cast<Found*>(data);
  const char* name = info->dlpi_name;
  if (strncmp(base_name_of(name), found->prefix, strlen(found->prefix)) != 0) return 0;
  Text(found->path, kPathRoom).add(name);
  return 1;
}

// The path of the first loaded object whose file's name begins so.
bool find_loaded(const char* prefix, char* path) {
  Found found{prefix, path};
  path[0] = 0;
  dl_iterate_phdr(look_at_object, &found);
  return path[0] != 0;
}

void* open_library(const char* path, int flags) {
  resolve(fathom_original_dlopen, "dlopen");
  const auto open = reinterpret_cast<void* (*)(const char*, int)>(fathom_original_dlopen);
  return open != nullptr ? open(path, RTLD_LAZY | RTLD_LOCAL | flags) : nullptr;
}

bool open_at(char* path, size_t folder, const char* inside, unsigned major) {
  Text text(path + folder, kPathRoom - folder);
  text.add(inside).add("libcupti.so.").add_number(major);
  library = open_library(path, 0);
  return library != nullptr;
}

// Of the driver's generation first: one that is newer than the driver does not work with it.
template <class Open>
bool try_majors(Open open) {
  constexpr unsigned kOldest = 11, kNewest = 14;
  const int version = driver_version();
  const unsigned newest = version > 0 ? static_cast<unsigned>(version) / 1000 : kNewest;
  for (unsigned major = newest; major >= kOldest; major--) {
    if (open(major)) return true;
  }
  return false;
}

bool open_below(char* path, std::initializer_list<const char*> places) {
  const size_t folder = strlen(path);
  return try_majors([&](unsigned major) {
    for (const char* place : places) {
      if (open_at(path, folder, place, major)) return true;
    }
    return false;
  });
}

bool open_beside_runtime(char* path) {
  if (!find_loaded("libcudart.so", path)) return false;
  path[base_name_of(path) - path] = 0;
  return open_below(path, {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/"});
}

bool open_of_toolkit(char* path) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
    const char* home = setting(variable);
    if (home == nullptr || *home == 0) continue;
    Text(path, kPathRoom).add(home).add("/");
    if (open_below(path, {"extras/CUPTI/lib64/", "lib64/", "lib/"})) return true;
  }
  path[0] = 0;
  if (open_below(path, {"", "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/"}))
    return true;
  return false;
}

// The one that is named, and no other; else the one that the program has loaded itself, that of its
// runtime, that of a toolkit.
bool open_any(char* path) {
  const char* named = setting("FATHOM_CUPTI");
  if (named != nullptr && *named != 0) {  // and no other: "none" is a way to do without
    Text(path, kPathRoom).add(named);
    library = open_library(path, 0);
    return library != nullptr;
  }
  if (find_loaded("libcupti.so", path)) {
    library = open_library(path, RTLD_NOLOAD);
    if (library != nullptr) return true;
  }
  return open_beside_runtime(path) || open_of_toolkit(path);
}

}  // namespace

bool cupti_is_loaded() {
  const Scratch scratch;
  return scratch.text() != nullptr && find_loaded("libcupti.so", scratch.text());
}

void* find_in_cupti(const char* symbol) {
  const Scratch scratch;
  resolve(fathom_original_dlsym, "dlsym");
  const auto find = reinterpret_cast<Dlsym>(fathom_original_dlsym);
  if (scratch.text() == nullptr || find == nullptr || !find_loaded("libcupti.so", scratch.text()))
    return nullptr;
  void* loaded = open_library(scratch.text(), RTLD_NOLOAD);
  return loaded != nullptr ? find(loaded, symbol) : nullptr;
}

bool open_cupti(char* path, size_t room) {
  static constinit char place[kPathRoom];
  if (library == nullptr && !open_any(place)) return false;
  resolve(fathom_original_dlsym, "dlsym");
  const auto find = reinterpret_cast<Dlsym>(fathom_original_dlsym);
  for (const Row& row : kRows) {
    *row.function = find(library, row.symbol);
    if (*row.function == nullptr && row.needed) return false;
  }
  Text(path, room).add(place);
  return true;
}

}  // namespace fathom::guest::gpu
