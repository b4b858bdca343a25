// SPDX-License-Identifier: MIT
// Environments: what the recorded program gets, and what of it the manifest may show.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fathom::session {

// What a program is told of the run, by its environment.
struct GuestSettings {
  std::string library;  // absolute path of libfathom.so
  std::string directory;
  std::vector<std::string> layers;
  std::vector<std::string> calls;    // filter; empty: all
  std::vector<std::string> further;  // NAME=value: settings of single layers
  bool preloads = true;              // false: the program's loader would mind the library
};

// Tells the library to keep arguments of programs out of the recording.
inline constexpr char kNoCommand[] = "FATHOM_NO_COMMAND=1";
// Whether this process was told so by its own environment.
[[nodiscard]] bool wants_no_command();

// `base` (NAME=value each) with what libfathom.so needs; the caller's own LD_PRELOAD stays, behind
// ours, and programs built with AddressSanitizer are told that this is meant to be so.
[[nodiscard]] std::vector<std::string> guest_environment(std::vector<std::string> base,
                                                         const GuestSettings& settings);

// `base` without our settings, for a program that is recorded from outside alone.
[[nodiscard]] std::vector<std::string> plain_environment(std::vector<std::string> base);

// Seccomp filters that this process is behind, as a variable for the library: those are known to
// leave it alone. "": none.
[[nodiscard]] std::string filters_variable();

// Variables that explain a run (thread counts, job ids, library paths) and hold no secrets.
[[nodiscard]] std::map<std::string, std::string> telling_environment(
    const std::vector<std::string>& base);

// Where Alnair's users want its logs (PFLOG); "" where nobody says so.
[[nodiscard]] std::string alnair_folder();
// This process's own, NAME=value each.
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace fathom::session
