// SPDX-License-Identifier: MIT
// How Python's functions come to be traced. Python has a hook for auditors, which a program that
// embeds it may set before the interpreter is made (PySys_AddAuditHook, from 3.8 on): it needs no
// file on sys.path, no variable and no module. At the first event of an interpreter that is ready
// (the import of site, or the program itself) the extension for its version, which lies beside this
// library, is loaded and told to begin. Nothing the program can see of its interpreter changes.
#include <dlfcn.h>
#include <string.h>

#include "guest/attach.h"
#include "guest/binding.h"
#include "guest/loaded.h"
#include "guest/private_place.h"
#include "guest/process.h"
#include "guest/scratch.h"
#include "guest/syscalls.h"
#include "guest/text.h"
#include "sources/python/guest_frames.h"
#include "wire/pythons.h"

extern "C" __attribute__((visibility("hidden"))) void* fathom_original_dlsym;
extern "C" __attribute__((visibility("hidden"))) void* fathom_original_dlopen;

namespace fathom::guest {
namespace {

using Dlsym = void* (*)(void*, const char*);
using Dlopen = void* (*)(const char*, int);
using AuditHook = int (*)(const char* event, void* args, void* data);

#if defined(__x86_64__)
constexpr char kPlatform[] = "x86_64-linux-gnu";
#else
constexpr char kPlatform[] = "aarch64-linux-gnu";
#endif

using IsInitialized = int (*)();
constinit IsInitialized is_initialized = nullptr;
constinit fathom_trace_start_function start = nullptr;

// As in Python.h. Domain 0 is the one that hooks lie in.
struct Allocator {
  void* context;
  void* (*malloc)(void* context, size_t size);
  void* (*calloc)(void* context, size_t count, size_t size);
  void* (*realloc)(void* context, void* block, size_t size);
  void (*free)(void* context, void* block);
};
using ExchangeAllocator = void (*)(int domain, Allocator* allocator);
constexpr int kRaw = 0;
using AddHook = int (*)(AuditHook hook, void* data);
constinit AddHook add_audit_hook = nullptr;
constinit ExchangeAllocator get_allocator = nullptr;
constinit ExchangeAllocator set_allocator = nullptr;
constinit Allocator usual = {};
alignas(16) constinit char hook_entry[64] = {};
enum class State : uint8_t { kWaiting, kBusy, kTraced, kOver };
constinit State state = State::kWaiting;  // guarded by the interpreter's lock

template <class Function>
Function symbol(void* library, const char* name) {
  resolve(fathom_original_dlsym, "dlsym");
  const auto find = reinterpret_cast<Dlsym>(fathom_original_dlsym);
  return find != nullptr ? reinterpret_cast<Function>(find(library, name)) : nullptr;
}

void cannot_trace(const char* version, const char* why) {
  char text[512];
  Text(text, sizeof text).add("Python ").add(version).add(": ").add(why);
  write_meta("reason:python", text, strlen(text));
  count_loss(FATHOM_SOURCE_PYTHON, FATHOM_LOSS_NOT_TRACED);
}

// As in "3.12.1 (main, …) [GCC …]": what stands before the first blank.
struct Version {
  char text[24];
  char tag[16];  // "312", "313t"
  int minor = 0;
  bool locked = true;  // by the interpreter's lock
  bool readable;

  Version() {
    const auto told = symbol<const char* (*)()>(RTLD_DEFAULT, "Py_GetVersion");
    const char* words = told != nullptr ? told() : "?";
    const char* blank = strchr(words, ' ');
    Text(text, sizeof text)
        .add(words, blank != nullptr ? static_cast<size_t>(blank - words) : strlen(words));
    const char* point = strchr(text, '.');
    const char* end = point != nullptr ? strchr(point + 1, '.') : nullptr;
    readable = end != nullptr;
    if (!readable) return;
    for (const char* at = point + 1; at != end; at++) minor = minor * 10 + (*at - '0');
    locked = strstr(words, "free-threading") == nullptr;
    Text tag_text(tag, sizeof tag);
    tag_text.add(text, static_cast<size_t>(point - text));
    tag_text.add(point + 1, static_cast<size_t>(end - point - 1));
    if (!locked) tag_text.add("t");
    if (symbol<void*>(RTLD_DEFAULT, "_Py_NegativeRefcount") != nullptr) tag_text.add("d");
  }
};

bool load_from(const char* folder, size_t length, const char* below, const Version& version) {
  char path[4300];
  Text(path, sizeof path)
      .add(folder, length)
      .add(below)
      .add("_record.cpython-")
      .add(version.tag)
      .add("-")
      .add(kPlatform)
      .add(".so");
  resolve(fathom_original_dlopen, "dlopen");
  const auto open = reinterpret_cast<Dlopen>(fathom_original_dlopen);
  void* extension = open != nullptr ? open(path, RTLD_NOW) : nullptr;
  if (extension == nullptr) return false;
  start = symbol<fathom_trace_start_function>(extension, FATHOM_TRACE_START);
  return start != nullptr;
}

// <folder of this library>/python/_record.cpython-312-x86_64-linux-gnu.so; where the library was
// preloaded by its link in PREFIX/lib, below PREFIX/lib/fathom.
bool load_beside(const Version& version) {
  size_t folder = strlen(guest.library);
  while (folder > 0 && guest.library[folder - 1] != '/') folder--;
  return folder > 0 && (load_from(guest.library, folder, "python/", version) ||
                        load_from(guest.library, folder, "fathom/python/", version));
}

// What `fathom python add` has built (session/python_extension.cc), where nobody else can have put
// it.
bool load_from_home(const Version& version) {
  const Scratch named, plain;
  if (named.text() == nullptr || plain.text() == nullptr) return false;
  const char* data = setting("XDG_DATA_HOME");
  const char* home = setting("HOME");
  Text folder(named.text(), Scratch::kRoom);
  if (data != nullptr && *data == '/') {
    folder.add(data).add("/fathom/python");
  } else if (home != nullptr && *home == '/') {
    folder.add(home).add("/.local/share/fathom/python");
  } else {
    return false;
  }
  return is_ours_alone(named.text(), plain.text(), Scratch::kRoom) &&
         load_from(plain.text(), strlen(plain.text()), "/", version);
}

// The package that the interpreter itself would import, on sys.path. Nothing is imported.
bool load_from_package(const Version& version) {
  using Object = void*;
  const auto of_sys = symbol<Object (*)(const char*)>(RTLD_DEFAULT, "PySys_GetObject");
  const auto size = symbol<long (*)(Object)>(RTLD_DEFAULT, "PyList_Size");
  const auto item = symbol<Object (*)(Object, long)>(RTLD_DEFAULT, "PyList_GetItem");
  const auto text = symbol<const char* (*)(Object)>(RTLD_DEFAULT, "PyUnicode_AsUTF8");
  const auto clear = symbol<void (*)()>(RTLD_DEFAULT, "PyErr_Clear");
  if (of_sys == nullptr || size == nullptr || item == nullptr || text == nullptr) return false;
  Object path = of_sys("path");
  const long count = path != nullptr ? size(path) : 0;
  bool found = false;
  for (long i = 0; i < count && !found; i++) {
    const char* folder = text(item(path, i));
    if (folder != nullptr)
      found = load_from(folder, strlen(folder), "/fathom/lib/python/", version);
  }
  if (clear != nullptr) clear();
  return found;
}

void give_up(const Version& version) {
  state = State::kOver;
  // `fathom python add` could not build one for these.
  if (version.minor > FATHOM_PYTHON_LAST_MINOR)
    return cannot_trace(version.text, FATHOM_PYTHON_VERSIONS);
  if (!version.locked)
    return cannot_trace(version.text, "a build without the interpreter's lock is not traced");
  char why[400];
  char program[256];
  const long length = sys_readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 && length + 1 < static_cast<long>(sizeof program) ? length : 0] = 0;
  const char* name = program;
  for (const char* at = program; *at != 0; at++) {
    if (*at == '/') name = at + 1;
  }
  const bool is_python = strncmp(name, "python", 6) == 0;
  Text(why, sizeof why)
      .add("there is no extension of Fathom for it; build one: fathom python add ")
      .add(is_python ? program : "PYTHON");
  cannot_trace(version.text, why);
}

void start_tracing(const Version& version) {
  const char* why = start(python::prepare_frames());
  if (why != nullptr && *why == 0) {
    state = State::kWaiting;
    return;
  }
  state = why == nullptr ? State::kTraced : State::kOver;
  if (why != nullptr) cannot_trace(version.text, why);
}

// Packages are on sys.path when site was imported: the program itself comes next.
void begin(const char* event) {
  constexpr char kRuns[] = "cpython.run_";
  static constinit bool looked_beside = false;
  const bool runs = strncmp(event, kRuns, sizeof kRuns - 1) == 0;
  if (looked_beside && start == nullptr && !runs) return;
  state = State::kBusy;
  const Version version;
  if (is_confined()) {
    state = State::kOver;
    return cannot_trace(version.text, "it began inside a sandbox");
  }
  if (!version.readable) return give_up(version);
  if (start == nullptr && (looked_beside || (!load_beside(version) && !load_from_home(version)))) {
    looked_beside = true;
    if (!runs) {
      state = State::kWaiting;
      return;
    }
    if (!load_from_package(version)) return give_up(version);
  }
  start_tracing(version);
}

// Python allocates the entry of a hook before it knows which allocator its options ask for, and
// frees it with that one at its end: with -X dev this ends in an abort. So the entry is memory of
// ours, and is not freed.
void* give_entry(void*, size_t size) {
  return size <= sizeof hook_entry ? hook_entry : usual.malloc(usual.context, size);
}

int audited(const char* event, void* args, void* data);

void add_hook() {
  get_allocator(kRaw, &usual);
  Allocator ours = usual;
  ours.malloc = give_entry;
  set_allocator(kRaw, &ours);
  add_audit_hook(audited, nullptr);
  set_allocator(kRaw, &usual);
}

// The list of hooks is empty by now, and Python keeps what is added to it for the interpreter that
// a program makes when it has finalised this one.
void keep_entry(void*, void* block) {
  if (block != hook_entry) return usual.free(usual.context, block);
  set_allocator(kRaw, &usual);
  add_hook();
}

// Our allocator is there until our entry is freed, which comes next.
void before_hooks_go() {
  static constinit Allocator ours = {};
  get_allocator(kRaw, &usual);
  ours = {nullptr, [](void*, size_t size) { return usual.malloc(usual.context, size); },
          [](void*, size_t count, size_t size) { return usual.calloc(usual.context, count, size); },
          [](void*, void* block, size_t size) { return usual.realloc(usual.context, block, size); },
          keep_entry};
  set_allocator(kRaw, &ours);
}

// Further interpreters are not traced. They are met when they import something, as they begin with.
void look_at_interpreter() {
  static constinit void* last = nullptr;
  auto now = symbol<void* (*)()>(RTLD_DEFAULT, "PyInterpreterState_Get");
  if (now == nullptr) now = symbol<void* (*)()>(RTLD_DEFAULT, "_PyInterpreterState_Get");  // 3.8
  const auto main = symbol<void* (*)()>(RTLD_DEFAULT, "PyInterpreterState_Main");
  if (now == nullptr || main == nullptr || now() == main() || now() == last) return;
  last = now();
  if (recording(FATHOM_SOURCE_PYTHON)) count_loss(FATHOM_SOURCE_PYTHON, FATHOM_LOSS_NOT_TRACED);
}

// Called for every event of every interpreter of the process, with its lock held.
int audited(const char* event, void*, void*) {
  if (*event == 'c' && strcmp(event, "cpython._PySys_ClearAuditHooks") == 0) {
    if (state == State::kWaiting && recording(FATHOM_SOURCE_PYTHON)) give_up(Version());
    if (state == State::kTraced) state = State::kWaiting;
    before_hooks_go();
  } else if (state == State::kWaiting) {
    if (is_initialized() != 0 && recording(FATHOM_SOURCE_PYTHON)) begin(event);
  } else if (*event == 'i' && strcmp(event, "import") == 0) {
    look_at_interpreter();
  }
  return 0;
}

}  // namespace

namespace python {

// Most programs have no interpreter: dlsym would allocate to tell so.
void arrived() {
  if (!guest.wanted[FATHOM_SOURCE_PYTHON] || find_behind_us("Py_GetVersion") == nullptr) return;
  add_audit_hook = symbol<AddHook>(RTLD_DEFAULT, "PySys_AddAuditHook");
  get_allocator = symbol<ExchangeAllocator>(RTLD_DEFAULT, "PyMem_GetAllocator");
  set_allocator = symbol<ExchangeAllocator>(RTLD_DEFAULT, "PyMem_SetAllocator");
  is_initialized = symbol<IsInitialized>(RTLD_DEFAULT, "Py_IsInitialized");
  if (add_audit_hook == nullptr || is_initialized == nullptr || get_allocator == nullptr ||
      set_allocator == nullptr)
    return cannot_trace(Version().text, "functions are traced from 3.8 on");
  add_hook();
}

}  // namespace python
}  // namespace fathom::guest
