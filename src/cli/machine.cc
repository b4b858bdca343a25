// SPDX-License-Identifier: MIT
// The checks of `fathom doctor`. Each gives a state, what was found and, where there is one, the
// exact line to type.
#include "cli/machine.h"

#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/host.h"
#include "base/plural.h"
#include "base/privilege.h"
#include "base/text.h"
#include "session/run_header.h"
#include "sources/expect.h"
#include "sources/library.h"
#include "sources/list.h"
#include "sql/database.h"

namespace fathom::cli {
namespace {

constexpr std::uint64_t kLittleSpace = std::uint64_t{1} << 30;
constexpr std::uint64_t kLittleMemory = std::uint64_t{32} << 20;

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

std::vector<Value> fact(const char* name, const char* state, const std::string& found,
                        const std::string& fix = "") {
  return {Value(std::string(name)), Value(std::string(state)), Value(found), text_or_null(fix)};
}

// Loading it is tried once: the layers and the machine tell the same.
const sources::Availability& library_state() {
  static const sources::Availability state = sources::try_library();
  return state;
}

std::vector<Value> library_fact() {
  const sources::Availability& state = library_state();
  const Result<std::string> library = sources::find_library();
  if (state.available && library) return fact("library", "ok", *library);
  return fact("library", library ? "broken" : "missing", state.reason, state.fix);
}

std::vector<Value> duckdb_fact() {
  const Result<std::string> version = sql::engine_version();
  if (version) return fact("duckdb", "ok", *version);
  const std::string found = sources::find_elsewhere("libduckdb.so");
  return fact("duckdb", "missing", version.error().message,
              found.empty() ? version.error().hint : "export FATHOM_DUCKDB=" + found);
}

std::vector<Value> proc_fact() {
  if (path_exists("/proc/self/stat")) return fact("/proc", "ok", "mounted");
  return fact("/proc", "missing",
              "not mounted, so resources, command lines and names of inherited files are missing",
              as_root("mount -t proc proc /proc"));
}

// Shared memory is not needed by the library; small ones of containers break many programs that are
// recorded.
std::vector<Value> shared_memory_fact() {
  constexpr char kPlace[] = "/dev/shm";
  struct statvfs status {};
  if (statvfs(kPlace, &status) != 0) {
    return fact(kPlace, "note", "missing; Fathom does not need it, but some programs do",
                as_root("mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm"));
  }
  if ((status.f_flag & ST_RDONLY) != 0) {
    return fact(kPlace, "note", "read-only; Fathom does not need it, but some programs do",
                as_root("mount -o remount,rw /dev/shm"));
  }
  const std::uint64_t room = std::uint64_t{status.f_bavail} * status.f_frsize;
  const std::string found = human_bytes(static_cast<double>(room)) + " free";
  if (room >= kLittleMemory) return fact(kPlace, "ok", found);
  return fact(kPlace, "note", found + "; some programs need more",
              as_root("mount -o remount,size=1g /dev/shm"));
}

bool is_roomy(const std::string& place) {
  const Result<std::uint64_t> room = free_space(place);
  return access(place.c_str(), W_OK) == 0 && room && *room >= kLittleSpace;
}

// The line that leads to where a recording fits; "" where there is no such place.
std::string way_to_room() {
  for (const char* name : {"TMPDIR", "HOME"}) {
    const char* place = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    if (place != nullptr && *place == '/' && is_roomy(place)) return std::string("cd ") + place;
  }
  for (const char* place : {"/var/tmp", "/tmp"}) {
    if (is_roomy(place)) return std::string("cd ") + place;
  }
  return "";
}

std::vector<Value> gpu_fact() {
  const sources::Availability state = sources::probe_gpus();
  return fact("gpu", state.available ? "ok" : "note",
              state.available ? state.reason : "not sampled: " + state.reason);
}

// Recordings are made in the working directory unless -o says otherwise.
std::vector<Value> disk_fact() {
  if (access(".", W_OK) != 0) {
    return fact("disk", "missing",
                "recordings cannot be created here: this directory is not writable", way_to_room());
  }
  const Result<std::uint64_t> room = free_space(".");
  if (!room) return fact("disk", "missing", room.error().message, way_to_room());
  const std::string found = human_bytes(static_cast<double>(*room)) + " free here";
  if (*room >= kLittleSpace) return fact("disk", "ok", found);
  return fact("disk", "note", found + "; recordings may lose events", way_to_room());
}

// The library would record it, if there were anything to record.
bool lacks_driver(const sources::SourceDef& source) {
  return source.driver != nullptr && ::dlopen(source.driver, RTLD_LAZY | RTLD_LOCAL) == nullptr;
}

std::vector<Value> layer_row(const sources::LayerDef& layer) {
  const sources::SourceDef* source = sources::source_of(layer.name);
  const bool in_process = source != nullptr && source->in_process;
  sources::Availability found =
      in_process && !library_state().available ? library_state() : sources::probe_layer(layer.name);
  const char* state = found.available     ? "available"
                      : source != nullptr ? "unavailable"
                                          : "not built";
  if (found.available && source != nullptr && lacks_driver(*source)) {
    state = "no driver";
    found.reason = std::string("this machine has no ") + source->driver;
  }
  return {Value(std::string(layer.name)), Value(std::string(state)), Value(std::string(layer.what)),
          text_or_null(found.reason), text_or_null(found.fix)};
}

}  // namespace

Table layer_table() {
  Table table{.title = "layers",
              .columns = {{"layer"}, {"state"}, {"what"}, {"reason"}, {"fix"}},
              .rows = {},
              .note = ""};
  std::vector<std::string_view> all;
  for (const sources::LayerDef& layer : sources::layers()) all.push_back(layer.name);
  sources::expect_layers(all);
  for (const sources::LayerDef& layer : sources::layers()) table.rows.push_back(layer_row(layer));
  return table;
}

Table machine_table() {
  Table table{.title = "machine",
              .columns = {{"fact"}, {"state"}, {"found"}, {"fix"}},
              .rows = {},
              .note = ""};
  const HostFacts& host = this_host();
  table.rows = {
      fact("system", "ok", host.system + ", kernel " + host.kernel + ", " + host.arch),
      fact("cpu", "ok", counted(host.cores, "core") + ", " + host.cpu_model),
      fact("clock", "ok", session::describe_tick_source()),
      library_fact(),
      duckdb_fact(),
      disk_fact(),
      proc_fact(),
      shared_memory_fact(),
      gpu_fact(),
      container_fact(),
  };
  return table;
}

}  // namespace fathom::cli
