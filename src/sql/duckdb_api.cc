// SPDX-License-Identifier: MIT
// Finds and binds libduckdb.so by dlopen. Linking would cost each command its loading time, and the
// recorder does not need it at all.
#include "sql/duckdb_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace fathom::sql {

namespace {

constexpr char kLibrary[] = "libduckdb.so";
constexpr char kHint[] = "put libduckdb.so beside the fathom program, or name it in FATHOM_DUCKDB";

// dlerror's words, which name the file, but never its several lines.
std::string loader_message() {
  const char* message = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
  const std::string text = message != nullptr ? message : "unknown error";
  return text.substr(0, text.find('\n'));
}

// The program, or the library of ours that it loaded. The loader knows a program by the name that
// it was called by, which may lead nowhere by now.
std::filesystem::path own_file() {
  std::error_code failed;
  Dl_info here{};
  const bool known = dladdr(reinterpret_cast<const void*>(&own_file), &here) != 0;
  const std::string name = known && here.dli_fname != nullptr ? here.dli_fname : "";
  const bool library = name.find(".so") != std::string::npos;
  return std::filesystem::canonical(library ? name : "/proc/self/exe", failed);
}

Result<DuckdbApi> bind_functions(void* library, const std::string& path) {
  DuckdbApi api;
  const char* missing = nullptr;
#define FATHOM_DUCKDB_BIND(name)                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "duckdb_" #name)); \
  if (api.name == nullptr && missing == nullptr) missing = "duckdb_" #name;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_BIND)
#undef FATHOM_DUCKDB_BIND
  if (missing == nullptr) return api;
  return Error{Code::kUnsupported, "DuckDB in " + path + " has no function " + missing,
               "DuckDB 1.5.5 is needed"};
}

}  // namespace

std::vector<std::string> duckdb_candidates() {
  const char* chosen =
      std::getenv("FATHOM_DUCKDB");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> candidates;
  if (const std::filesystem::path own = own_file(); !own.empty()) {
    candidates.push_back(own.parent_path() / kLibrary);
  }
  candidates.emplace_back(kLibrary);
  return candidates;
}

Result<DuckdbApi> load_duckdb(std::span<const std::string> candidates) {
  std::string reasons;
  for (const std::string& path : candidates) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return bind_functions(library, path);
    // The last reason may only say that the loader's path has none; a broken file beside us is what
    // matters.
    const std::string reason = loader_message();
    const bool absent = reason.find("No such file") != std::string::npos;
    if (reasons.empty() || !absent) reasons = reason;
  }
  return Error{Code::kNotFound, "DuckDB cannot be loaded: " + reasons, kHint};
}

Result<const DuckdbApi*> duckdb_api() {
  static const Result<DuckdbApi> loaded = load_duckdb(duckdb_candidates());
  if (!loaded) return Error(loaded.error());
  return &loaded.value();
}

}  // namespace fathom::sql
