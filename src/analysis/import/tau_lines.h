// SPDX-License-Identifier: MIT
// Lines of a profile of TAU (docs/formats/tau.md). Pure functions over text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::analysis {

// "work [{app.py} {72,0}]" 8 0 12.5 13 0 GROUP="TAU_PYTHON"
struct TauFunction {
  std::string_view name;  // without place and layer
  std::string_view file;  // "" where it names none
  std::string_view layer;
  std::int64_t calls = 0;
  std::int64_t self_ns = 0, total_ns = 0;
  bool is_path = false;  // of calls, "a => b": the same times once more
  bool is_root = false;
};
[[nodiscard]] std::optional<TauFunction> parse_tau_function(std::string_view line);

// "12 templated_functions_MULTI_TIME": how many rows follow the next line.
[[nodiscard]] std::optional<std::int64_t> parse_tau_head(std::string_view line);

// profile.NODE.CONTEXT.THREAD.
struct TauPlace {
  std::int32_t node = 0, thread = 0;
};
[[nodiscard]] std::optional<TauPlace> parse_tau_file_name(std::string_view name);

}  // namespace fathom::analysis
