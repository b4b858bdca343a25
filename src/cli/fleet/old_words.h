// SPDX-License-Identifier: MIT
// Command lines of profiling-framework's programs: `--name VALUE` or `--name=VALUE`, and a program
// behind `--`.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

// Not by a Parser: these are words of another program, which are looked up by their names and
// translated.
struct OldWords {
  std::map<std::string, std::string, std::less<>> options;  // by their names, with the dashes
  std::vector<std::string> tail;                            // behind "--"

  [[nodiscard]] bool has(std::string_view name) const { return options.contains(name); }
  // "" where it was not given.
  [[nodiscard]] std::string value(std::string_view name, std::string_view otherwise = "") const;
};

// Any other option is a usage error.
Result<OldWords> parse_old_words(const std::vector<std::string>& words,
                                 std::span<const std::string_view> known);

// The URL that --bind and --port mean: as profiling-framework, localhost and 10000 where they are
// not given; with TLS beyond this machine.
Result<std::string> old_server_url(const OldWords& words);

// The number of a job, 2001 to 9999.
Result<std::string> old_job_number(const std::string& text);

}  // namespace fathom::cli
