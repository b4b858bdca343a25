// SPDX-License-Identifier: MIT
// What DFTracer's users say in its variables (DFTRACER_*) and in the YAML file that
// DFTRACER_CONFIGURATION names; a variable wins over the file. Read once, without the heap.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest::dftracer {

enum class Mode : uint8_t { kFunction, kPreload, kHybrid };

// A switch that nobody touched means what its generation means by default.
enum class Switch : uint8_t { kUnset, kOff, kOn };

struct Settings {
  Switch enable, metadata, compression, io, posix, stdio;
  Mode mode;
  char log_file[4096];   // "" where nobody named one
  char data_dirs[8192];  // with colons between; "" where nobody named one
};

const Settings& settings();

// Whether the program asks for DFTracer at all.
bool enabled();

// Reads a configuration into `to`; the text is changed on the way. For settings(), and for tests.
void read_yaml(char* text, Settings& to);

}  // namespace fathom::guest::dftracer
