// SPDX-License-Identifier: MIT
#include "cli/machine.h"

#include <string>
#include <vector>

#include "base/files.h"
#include "base/host.h"
#include "base/text.h"
#include "session/run_header.h"
#include "sources/library.h"
#include "sources/list.h"
#include "sql/database.h"

namespace fathom::cli {
namespace {

constexpr std::uint64_t kLittleSpace = std::uint64_t{1} << 30;

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

std::vector<Value> fact(const char* name, const char* state, const std::string& found,
                        const std::string& fix = "") {
  return {Value(std::string(name)), Value(std::string(state)), Value(found), text_or_null(fix)};
}

std::vector<Value> library_fact() {
  const Result<std::string> library = sources::find_library();
  if (library) return fact("library", "ok", *library);
  return fact("library", "missing", library.error().message, "");
}

std::vector<Value> duckdb_fact() {
  const Result<std::string> version = sql::engine_version();
  if (version) return fact("duckdb", "ok", *version);
  return fact("duckdb", "missing", version.error().message, version.error().hint);
}

// Shared memory is not needed by the library; small ones of containers break many programs that are
// recorded.
std::vector<Value> shared_memory_fact() {
  const Result<std::uint64_t> room = free_space("/dev/shm");
  if (!room)
    return fact("/dev/shm", "note", "not mounted; Fathom does without",
                "mount -t tmpfs tmpfs /dev/shm");
  return fact("/dev/shm", "ok", human_bytes(static_cast<double>(*room)) + " free");
}

std::vector<Value> disk_fact() {
  const Result<std::uint64_t> room = free_space(".");
  if (!room) return fact("disk", "missing", room.error().message);
  const std::string found = human_bytes(static_cast<double>(*room)) + " free here";
  if (*room >= kLittleSpace) return fact("disk", "ok", found);
  return fact("disk", "note", found + "; recordings may lose events",
              "fathom run -o DIR -- … with DIR on a larger disk");
}

}  // namespace

Table layer_table() {
  Table table{.title = "layers",
              .columns = {{"layer"}, {"state"}, {"what"}, {"reason"}, {"fix"}},
              .rows = {},
              .note = ""};
  for (const sources::LayerDef& layer : sources::layers()) {
    const sources::Availability found = sources::probe_layer(layer.name);
    const bool built = sources::source_of(layer.name) != nullptr;
    const char* state = found.available ? "available" : built ? "unavailable" : "not built";
    table.rows.push_back({Value(std::string(layer.name)), Value(std::string(state)),
                          Value(std::string(layer.what)), text_or_null(found.reason),
                          text_or_null(found.fix)});
  }
  return table;
}

Table machine_table() {
  Table table{.title = "machine",
              .columns = {{"fact"}, {"state"}, {"found"}, {"fix"}},
              .rows = {},
              .note = ""};
  const HostFacts host = read_host_facts();
  table.rows = {
      fact("system", "ok", host.system + ", kernel " + host.kernel + ", " + host.arch),
      fact("cpu", "ok", std::to_string(host.cores) + " cores, " + host.cpu_model),
      fact("clock", "ok", session::describe_tick_source()),
      library_fact(),
      duckdb_fact(),
      disk_fact(),
      shared_memory_fact(),
  };
  return table;
}

}  // namespace fathom::cli
