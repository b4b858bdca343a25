// SPDX-License-Identifier: MIT
// What an application writes, kept in files and, where it is the run that counts, shown.
#pragma once

#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "containers/one_run.h"
#include "containers/output_splitter.h"

namespace fathom::containers {

// One thread at a time. Must not be moved once take() was called: the splitter points into it.
class RunOutput {
 public:
  // Makes the files, which must not exist.
  static Result<RunOutput> open(const OneRun& run, bool tty);
  // Of the engine's stream.
  void take(std::string_view bytes);
  // Trouble stays: the rest is thrown away, the application goes on.
  void take(Stream stream, std::string_view text);
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }

 private:
  RunOutput(File out, File err, bool shown, bool tty)
      : out_(std::move(out)), err_(std::move(err)), shown_(shown), tty_(tty) {}
  File out_, err_;
  bool shown_, tty_;
  std::optional<OutputSplitter> splitter_;  // made in its last place
  std::optional<Error> trouble_;
};

}  // namespace fathom::containers
