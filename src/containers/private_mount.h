// SPDX-License-Identifier: MIT
// What a recorded container gets of ours: one folder, mounted read-only, with the gate, the
// library, its extensions for Python and two sockets. Everything else passes through the sockets:
// nothing of this machine can be written from inside.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fathom::containers {

inline constexpr char kPrivateTarget[] = "/.fathom";  // where it is mounted

// Tells a probed application where the text of its instructions lies.
inline constexpr char kInstructionsVariable[] = "FATHOM_INSTRUCTIONS";

// The program that waits at the gate.
struct GateCaller {
  pid_t pid = 0;        // as this machine counts
  std::string program;  // its path inside; "": there is none
  int error = 0;        // why not, as errno
  Fd file;              // of the program, or of the interpreter of a script; may be none
};

// One thread at a time. The sockets never block: door() is to be polled.
class PrivateMount {
 public:
  // Makes the folder, which must not exist, and fills it. `library` is libfathom.so;
  // `instructions` the text of the file, "": there is none.
  static Result<PrivateMount> make(const std::string& folder, const std::string& library,
                                   const std::string& instructions);
  PrivateMount(PrivateMount&&) = default;
  PrivateMount& operator=(PrivateMount&&) = default;
  ~PrivateMount();  // removes the folder

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string library() const;      // its path inside
  [[nodiscard]] std::string broker_path() const;  // on this machine, however long the folder's is
  [[nodiscard]] static std::string told_broker_path();
  [[nodiscard]] static std::string instructions();  // their path inside

  // The gate's socket: who connects is heard by hear(), and set free by open().
  [[nodiscard]] int door() const { return line_.valid() ? line_.get() : door_.get(); }
  // Something has come. Nothing: no whole word yet. After open(), a caller with an error says that
  // the program could not be started, and one without that its line has ended: it runs.
  Result<std::optional<GateCaller>> hear();
  // The program may start, with these variables added (NAME=value).
  Status open(const std::vector<std::string>& variables);

 private:
  PrivateMount() = default;
  Status fill(const std::string& library);
  Status listen();

  std::string folder_, library_name_;
  Fd directory_, door_, line_;
};

}  // namespace fathom::containers
