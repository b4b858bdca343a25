// SPDX-License-Identifier: MIT
// Work in containers of this machine: each program is run by the engine's own command line, whose
// exit status and streams are the program's.
#pragma once

#include <string>
#include <vector>

#include "fleet/executors/local.h"

namespace fathom::fleet {

// Structured, not words for a command line: nobody gives a container this machine's root folder, or
// more rights, by mistake.
struct DockerOptions {
  std::string program = "docker";  // or podman, which takes the same words
  std::string image;
  struct Mount {
    std::string source;
    std::string target;
    bool write = false;
  };
  std::vector<Mount> mounts;
  std::string network = "none";
  std::string memory;  // as the engine reads it: "512m"; "": no limit
  std::string cpus;
  std::map<std::string, std::string> environment;
};

// The destructor ends the engine's clients, not their containers: cancel() removes a container.
class DockerExecutor : public LocalExecutor {
 public:
  DockerExecutor(std::string fathom, std::size_t at_once, DockerOptions options);

  [[nodiscard]] std::vector<std::string> wrap(const std::string& id,
                                              std::vector<std::string> command) const override;
  // Whether the engine answers: the line that it says where not.
  [[nodiscard]] Status check() const;
  Status cancel(const std::string& id) override;

 private:
  DockerOptions options_;
};

}  // namespace fathom::fleet
